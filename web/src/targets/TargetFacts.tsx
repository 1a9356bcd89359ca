/** Where a target is and what is measured of it, each number with its unit, error and source. */
import type { Target } from '../api/shapes'
import { sexagesimal } from '../ui/format'
import { useWords } from '../words'

export function TargetFacts({ target }: { target: Target }) {
  const t = useWords()
  const { ra_deg: ra, dec_deg: dec } = target
  const parts = ra !== null && dec !== null ? sexagesimal(ra, dec) : null
  return (
    <div className="target-facts">
      <h2 className="target-name">{target.name || target.asked}</h2>
      <p className="muted">
        {[target.type_text || target.object_type, target.spectral_type].filter(Boolean).join(' · ') || t('target.noType')}
      </p>
      {parts && ra !== null && dec !== null ? (
        <dl className="facts">
          <dt>{t('target.position', { frame: `${target.frame ?? ''} ${target.epoch ?? ''}`.trim() })}</dt>
          <dd className="number">
            {parts.ra} {parts.dec}
          </dd>
          <dt>{t('target.degrees')}</dt>
          <dd className="number">
            {ra.toFixed(6)}° {dec < 0 ? '−' : '+'}
            {Math.abs(dec).toFixed(6)}°
          </dd>
          {Object.entries(target.measured).map(([name, one]) => (
            <Measure key={name} name={name} {...one} />
          ))}
        </dl>
      ) : (
        <p>{t('target.noPosition')}</p>
      )}
      {target.notes.map((note) => (
        <p key={note} className="caution tiny">
          {note}
        </p>
      ))}
      {target.aliases.length ? (
        <details>
          <summary className="tiny muted">{t('target.aliases', { n: target.aliases.length })}</summary>
          <p className="mono aliases">{target.aliases.join('  ·  ')}</p>
        </details>
      ) : null}
      <p className="tiny muted">{target.resolver ? t('target.from', { resolver: target.resolver }) : ''}</p>
    </div>
  )
}

function Measure({ name, value, unit, error, bibcode }: { name: string; value: number; unit: string; error: number | null; bibcode: string }) {
  return (
    <>
      <dt className="clip">{name.replace(/_(mas|km).*$/, '').replaceAll('_', ' ')}</dt>
      <dd className="number">
        {String(value).replace('-', '−')}
        {error !== null ? ` ± ${error}` : ''} {unit} {bibcode ? <span className="muted tiny">{bibcode}</span> : null}
      </dd>
    </>
  )
}
