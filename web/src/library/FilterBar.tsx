/** Search and filter chips; a chip opens a tray with what there is of its kind, and how often. */
import { ChevronDown, Search, X } from 'lucide-react'
import { type KeyboardEvent, type SyntheticEvent, useRef, useState } from 'react'
import { withQuery } from '../api/client'
import { paperStates, type PaperState } from '../api/shapes'
import { useLoaded } from '../api/useLoaded'
import { Trouble } from '../ui/parts'
import { useWords } from '../words'
import { type FacetKind, facetKinds, type Filters, noFilters, yearsIn } from './query'

/** Where one types on the screen, a keyboard that comes by itself would hide what there is to choose. */
const touched = typeof matchMedia === 'function' && matchMedia('(pointer: coarse)').matches

interface Given {
  filters: Filters
  onChange: (next: Filters) => void
}

export function FilterBar({ filters, onChange }: Given) {
  const t = useWords()
  const [open, setOpen] = useState<FacetKind | null>(null)
  const chips = useRef<HTMLDivElement>(null)
  const close = () => {
    chips.current?.querySelector<HTMLElement>(`[data-kind="${open}"]`)?.focus()
    setOpen(null)
  }
  const choose = (kind: FacetKind, value: string) => {
    onChange({ ...filters, [kind]: value })
    close()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !open) return
    event.preventDefault() // this is what it closes
    close()
  }
  return (
    <div className="filter-bar" onKeyDown={onKey}>
      <div className="row filters" ref={chips}>
        <label className="search-field">
          <Search aria-hidden />
          <span className="hidden-text">{t('library.search')}</span>
          <input
            type="search"
            value={filters.q}
            placeholder={t('library.search')}
            onChange={(event) => onChange({ ...filters, q: event.target.value })}
          />
        </label>
        {facetKinds.map((kind) => (
          <span key={kind} className="chip filter-chip" data-set={filters[kind] !== ''}>
            <button
              data-kind={kind}
              aria-expanded={open === kind}
              aria-controls={open === kind ? 'facet-tray' : undefined}
              onClick={() => setOpen(open === kind ? null : kind)}
            >
              {t(`filter.${kind}`)}
              {filters[kind] ? <strong className="clip">{shownValue(kind, filters[kind], t)}</strong> : null}
              <ChevronDown aria-hidden />
            </button>
            {filters[kind] ? (
              <button
                aria-label={t('filter.remove', { what: t(`filter.${kind}`) })}
                title={t('filter.remove', { what: t(`filter.${kind}`) })}
                onClick={() => onChange({ ...filters, [kind]: '' })}
              >
                <X aria-hidden />
              </button>
            ) : null}
          </span>
        ))}
        {facetKinds.some((kind) => filters[kind]) ? (
          <button className="button quiet small" onClick={() => onChange({ ...noFilters, q: filters.q })}>
            {t('filter.clear')}
          </button>
        ) : null}
      </div>
      {open ? <FacetTray key={open} kind={open} filters={filters} onChoose={choose} /> : null}
    </div>
  )
}

function shownValue(kind: FacetKind, value: string, t: ReturnType<typeof useWords>): string {
  if (kind === 'state' && (paperStates as readonly string[]).includes(value)) return t(`paperState.${value as PaperState}`)
  return kind === 'year' ? value.replace('-', '–') : value
}

interface TrayGiven {
  kind: FacetKind
  filters: Filters
  onChoose: (kind: FacetKind, value: string) => void
}

function FacetTray({ kind, filters, onChoose }: TrayGiven) {
  const t = useWords()
  const [typed, setTyped] = useState('')
  const [unread, setUnread] = useState(false)
  const path = withQuery('/papers/facets', { ...filters, [kind]: '', of: kind })
  const { data, error, reload } = useLoaded<{ values: { value: string; count: number }[] }>(path)
  const wanted = kind === 'year' ? yearsIn(typed) : typed.trim()
  const values = (data?.values ?? []).filter(
    (one) => (kind === 'year' && wanted) || one.value.toLowerCase().includes(typed.trim().toLowerCase()),
  )
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (wanted) onChoose(kind, wanted)
    else setUnread(kind === 'year' && typed.trim() !== '')
  }
  return (
    <div id="facet-tray" className="facet-tray" role="group" aria-label={t(`filter.${kind}`)}>
      {kind === 'state' ? null : (
        <form className="row" onSubmit={submit}>
          <input
            className="field"
            autoFocus={!touched}
            value={typed}
            aria-label={t(`filter.type.${kind}`)}
            placeholder={t(`filter.type.${kind}`)}
            aria-invalid={unread}
            aria-describedby={unread ? 'facet-form' : undefined}
            onChange={(event) => {
              setTyped(event.target.value)
              setUnread(false)
            }}
          />
        </form>
      )}
      {unread ? (
        <p id="facet-form" className="bad" role="alert">
          {t('filter.yearForm')}
        </p>
      ) : null}
      {error ? <Trouble error={error} onRetry={reload} /> : null}
      {data && !data.values.length ? <p className="muted">{t(kind === 'tag' ? 'filter.noTags' : 'filter.none')}</p> : null}
      <ul className="facet-values">
        {values.map(({ value, count }) => (
          <li key={value}>
            <button
              className="chip"
              aria-pressed={value === filters[kind]}
              onClick={() => onChoose(kind, value === filters[kind] ? '' : value)}
            >
              <span className="clip">{shownValue(kind, value, t)}</span> <span className="number tiny">{count}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
