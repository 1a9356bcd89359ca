/** Below the chart: whose objects these are, of which epoch, how faint, and what the discs mean. */
import type { SkyField } from '../api/shapes'
import { useWords } from '../words'
import { type Brightness, discRadius, magnitudeSteps } from './marks'
import type { Placed } from './projection'

export function Legend({ field, placed, range, brief }: { field: SkyField; placed: readonly Placed[]; range: Brightness | null; brief: boolean }) {
  const t = useWords()
  const moved = brief ? undefined : field.catalogues.find((one) => `J${one.epoch.toFixed(1)}` !== field.epoch)
  const still = moved ? placed.filter(({ object }) => object.catalogue === moved.name && object.pm_ra_mas_yr === null).length : 0
  const sources = field.catalogues.map((one) => one.name).join(' + ')
  const faintest = range ? `${range.band} ${range.faint.toFixed(1)}` : ''
  return (
    <>
      <p>
        {t('field.counts', { n: placed.length, sources })}
        {faintest ? ` ${t('field.faintest', { faintest })}` : ''}
        {field.catalogues.map((one) =>
          one.truncated ? ` ${one.name === 'SIMBAD' ? t('field.cutCited') : t('field.cutFaint', { source: one.name })}` : '',
        )}
      </p>
      <p>
        {t('field.epoch', { frame: field.frame, epoch: field.epoch })}
        {moved ? ` ${t('field.moved', { source: moved.name, from: `J${moved.epoch.toFixed(1)}` })}` : ''}
        {still ? ` ${t('field.still', { n: still })}` : ''}
      </p>
    </>
  )
}

/** Discs of whole magnitudes, as large as on the chart. */
export function Key({ range, size }: { range: Brightness; size: number }) {
  const t = useWords()
  return (
    <p className="finder-key tiny muted row wrap">
      <span>{t('field.key')}</span>
      {magnitudeSteps(range).map((magnitude) => (
        <span key={magnitude} className="row">
          <svg width="16" height="16" aria-hidden>
            <circle cx="8" cy="8" r={discRadius(magnitude, range, size)} fill="var(--ink)" />
          </svg>
          <span className="number">{magnitude}</span>
        </span>
      ))}
    </p>
  )
}
