import { revealed } from '../../ui/format'

/** All arguments, whole: nothing that will run may hide behind an ellipsis. */
export function ArgumentList({ given }: { given: Record<string, unknown> }) {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined)
  if (!entries.length) return null
  return (
    <dl className="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd className="mono">{revealed(typeof value === 'string' ? value : JSON.stringify(value, null, 1))}</dd>
        </div>
      ))}
    </dl>
  )
}
