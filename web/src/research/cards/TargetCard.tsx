import type { Target } from '../../api/shapes'
import { StarField } from '../../targets/StarField'
import { TargetFacts } from '../../targets/TargetFacts'
import '../../targets/targets.css'

export function TargetCard({ target }: { target: Target }) {
  return (
    <div className="target-card">
      <StarField target={target} size={180} small>
        <TargetFacts target={target} />
      </StarField>
    </div>
  )
}
