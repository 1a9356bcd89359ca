/** A target's finder chart with what catalogues have around it: asked for when it is shown, or when a person asks. */
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { FieldObject, SkyField, Target } from '../api/shapes'
import { withQuery } from '../api/client'
import { useLoaded } from '../api/useLoaded'
import { href } from '../app/route'
import { useWords } from '../words'
import { FieldTable } from './FieldTable'
import { FinderChart } from './FinderChart'
import { Key, Legend } from './Legend'
import { brightness, motion } from './marks'
import { coneArcmin, place, usualWidth, widths, widthText } from './projection'
import { useTold } from './told'

interface Given {
  target: Target
  /** Of the chart, in CSS pixels, where there is room. */
  size: number
  /** Objects of the person's that are drawn too, as far as no catalogue names them. */
  known?: readonly FieldObject[]
  /** In the timeline: nothing is asked for before the button is pressed, and nothing is listed. */
  small?: boolean
  /** What stands beside the chart, above the list of its objects. */
  children?: ReactNode
}

const none: readonly FieldObject[] = []

export function StarField({ target, size: largest, known = none, small = false, children }: Given) {
  const t = useWords()
  const [width, setWidth] = useState(() => usualWidth(target))
  const [wanted, setWanted] = useState(!small)
  const [picked, setPicked] = useState('')
  const figure = useRef<HTMLElement>(null)
  const size = useRoom(figure, largest)
  const { ra_deg: ra, dec_deg: dec } = target
  const asked = { ra_deg: ra, dec_deg: dec, radius_arcmin: coneArcmin(width) }
  const { data: field, error, loading, reload } = useLoaded<SkyField>(wanted && ra !== null && dec !== null ? withQuery('/targets/field', asked) : null)
  const objects = useMemo(() => {
    const found = field?.objects ?? none
    const names = new Set([target.name, ...found.map((one) => one.name)])
    return [...found, ...known.filter((one) => !names.has(one.name))]
  }, [field, known, target])
  const placed = useMemo(
    () => (ra === null || dec === null ? [] : place(objects, { ra_deg: ra, dec_deg: dec }, width, size)),
    [objects, ra, dec, width, size],
  )
  const tell = useTold()
  if (ra === null || dec === null) return children
  const range = brightness(placed)
  const shown = placed.find((one) => one.object.name === picked) ?? null
  return (
    <>
      <figure ref={figure} className="finder" style={{ maxWidth: largest }}>
        <FinderChart target={target} width={width} size={size} placed={placed} picked={shown} onPick={setPicked} />
        {small ? null : (
          <>
            <p className="finder-told tiny">{shown ? tell(shown) : <span className="muted">{t('field.point')}</span>}</p>
            <div className="row wrap">
              <div className="row" role="group" aria-label={t('field.width')}>
                {widths.map((one) => (
                  <button key={one} type="button" className="chip number" aria-pressed={one === width} onClick={() => setWidth(one)}>
                    {widthText(one)}
                  </button>
                ))}
              </div>
              <span className="spread" />
              <a className="tiny" href={aladin(ra, dec, width)} target="_blank" rel="noopener noreferrer">
                Aladin Lite
              </a>
            </div>
          </>
        )}
        <figcaption className="tiny muted">
          <div className="finder-legend" role="status">
            {loading ? <p>{t('field.asking')}</p> : null}
            {error ? (
              <Failed onRetry={reload}>
                {t('field.none', { reason: error.message })} {error.hint}
              </Failed>
            ) : null}
            {field?.errors.map((one) => (
              <Failed key={one.source} onRetry={reload}>
                {t('field.failed', { source: one.source, reason: one.message })}
              </Failed>
            ))}
            {field ? <Legend field={field} placed={placed} range={range} brief={small} /> : null}
            <Arrow target={target} arcsecPerPixel={(width * 60) / size} size={size} />
          </div>
        </figcaption>
        {small && !wanted ? (
          <button type="button" className="button small" onClick={() => setWanted(true)}>
            {t('field.show')}
          </button>
        ) : null}
        {small ? (
          <a className="tiny" href={href('targets', '', { name: target.asked || target.name })}>
            {t('field.open')}
          </a>
        ) : range ? (
          <Key range={range} size={size} />
        ) : null}
      </figure>
      {children}
      {small || !placed.length ? null : <FieldTable placed={placed} onPick={setPicked} />}
    </>
  )
}

/** How wide the chart may be, in whole CSS pixels. */
function useRoom(figure: RefObject<HTMLElement | null>, largest: number): number {
  const [size, setSize] = useState(largest)
  useEffect(() => {
    const node = figure.current
    if (!node) return
    const watch = new ResizeObserver(() => setSize(Math.max(120, Math.min(largest, node.clientWidth))))
    watch.observe(node)
    return () => watch.disconnect()
  }, [figure, largest])
  return size
}

function Failed({ children, onRetry }: { children: ReactNode; onRetry: () => void }) {
  const t = useWords()
  return (
    <p className="caution">
      {children}{' '}
      <button type="button" className="button quiet small" onClick={onRetry}>
        {t('common.retry')}
      </button>
    </p>
  )
}

function Arrow({ target, arcsecPerPixel, size }: { target: Target; arcsecPerPixel: number; size: number }) {
  const t = useWords()
  const moved = motion(target, arcsecPerPixel, size)
  return moved ? <p>{t('field.arrow', { years: moved.years })}</p> : null
}

/** CDS's own viewer, which opens elsewhere: it is told the position, and only if the person follows the link. */
function aladin(ra: number, dec: number, width: number): string {
  return withQuery('https://aladin.cds.unistra.fr/AladinLite/', { target: `${ra} ${dec}`, fov: (width / 60).toFixed(3) })
}
