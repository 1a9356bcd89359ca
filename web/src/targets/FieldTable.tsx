/** The objects of a chart as a table, for whoever cannot see or point at them. */
import { useMemo, useState } from 'react'
import { href } from '../app/route'
import { useWords } from '../words'
import { angleText, type Placed } from './projection'
import { magnitudeText, typeText } from './told'

export function FieldTable({ placed, onPick }: { placed: readonly Placed[]; onPick: (name: string) => void }) {
  const t = useWords()
  const [open, setOpen] = useState(false)
  const rows = useMemo(() => [...placed].sort((a, b) => a.arcsec - b.arcsec), [placed])
  const title = t('field.list', { n: placed.length })
  return (
    <details className="field-list" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="tiny muted">{title}</summary>
      {open ? (
        <div className="field-rows scroll-x tiny" role="region" aria-label={title} tabIndex={0}>
          <table className="plain">
            <thead>
              <tr>
                <th>{t('field.name')}</th>
                <th>{t('field.type')}</th>
                <th className="number">{t('field.magnitude')}</th>
                <th className="number">{t('field.distance')}</th>
                <th className="number">{t('field.angle')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ object, arcsec, angleDeg }) => {
                const { name, catalogue } = object
                return (
                  <tr key={`${catalogue} ${name}`} onPointerEnter={() => onPick(name)} onPointerLeave={() => onPick('')} onFocus={() => onPick(name)} onBlur={() => onPick('')}>
                    <td>{catalogue === 'Gaia DR3' ? name : <a href={href('targets', '', { name })}>{name}</a>}</td>
                    <td>{typeText(object, t)}</td>
                    <td className="number">{magnitudeText(object)}</td>
                    <td className="number">{angleText(arcsec)}</td>
                    <td className="number">{Math.round(angleDeg) % 360}°</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      ) : null}
    </details>
  )
}
