import { useWords } from '../../words'
import { revealed } from '../../ui/format'
import { type DiffLine, diffLines } from './diff'

const signs: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−', gap: '⋯' }

export function DiffCard({ path, before, after }: { path: string; before: string; after: string }) {
  const t = useWords()
  const lines = diffLines(before, after)
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return (
    <figure className="diff">
      <figcaption className="row tiny">
        <span className="mono clip">{path}</span>
        <span className="good number">+{count('added')}</span>
        <span className="bad number">−{count('removed')}</span>
      </figcaption>
      <pre className="terminal" tabIndex={0} aria-label={t('card.diff')}>
        {lines.map((line, place) => (
          <div key={place} className={`diff-${line.kind}`}>
            <span aria-hidden>{signs[line.kind]} </span>
            {line.kind === 'added' || line.kind === 'removed' ? (
              <span className="hidden-text">{t(line.kind === 'added' ? 'card.added' : 'card.removed')} </span>
            ) : null}
            {revealed(line.text)}
          </div>
        ))}
      </pre>
    </figure>
  )
}
