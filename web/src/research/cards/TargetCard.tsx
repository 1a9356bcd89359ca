import type { Target } from '../../api/shapes'
import { FinderChart } from '../../targets/FinderChart'
import { TargetFacts } from '../../targets/TargetFacts'
import '../../targets/targets.css'

export function TargetCard({ target }: { target: Target }) {
  return (
    <div className="target-card">
      <FinderChart target={target} size={180} />
      <TargetFacts target={target} />
    </div>
  )
}
