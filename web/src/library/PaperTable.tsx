/** All papers that fit, a row each; only the rows in view are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp, CircleAlert, CircleCheck, CircleDashed, CircleDot, Lock, type LucideIcon } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import type { Paper, PaperState } from '../api/shapes'
import { go, href } from '../app/route'
import { day, lastName } from '../ui/format'
import { PlainTitle } from '../ui/PlainTitle'
import { usePrefs } from '../ui/prefs'
import { useWords, type Word } from '../words'
import type { Sort, SortKey } from './query'

const columns: readonly { key: SortKey | null; word: Word; className: string }[] = [
  { key: 'title', word: 'paper.title', className: 'col-title' },
  { key: 'author', word: 'paper.author', className: 'col-author' },
  { key: 'year', word: 'paper.year', className: 'col-year' },
  { key: 'journal', word: 'paper.journal', className: 'col-journal' },
  { key: null, word: 'paper.tags', className: 'col-tags' },
  { key: 'state', word: 'paper.state', className: 'col-state' },
  { key: 'notes', word: 'paper.notes', className: 'col-notes' },
  { key: 'added', word: 'paper.added', className: 'col-added' },
]

export const stateIcons: Record<PaperState, [LucideIcon, string]> = {
  indexed: [CircleCheck, 'good'],
  parsed: [CircleDot, 'muted'],
  downloaded: [CircleDot, 'muted'],
  known: [CircleDashed, 'muted'],
  failed: [CircleAlert, 'bad'],
}

/** Rows before the last one at which further ones are asked for. */
const AHEAD = 60

const heights = { compact: 30, normal: 38, roomy: 46 }

interface Given {
  papers: readonly Paper[]
  total: number
  chosen: string
  sort: Sort
  onSort: (key: SortKey) => void
  onChoose: (id: string) => void
  onMore: () => void
}

export function PaperTable({ papers, total, chosen, sort, onSort, onChoose, onMore }: Given) {
  const t = useWords()
  const { density } = usePrefs()
  const frame = useRef<HTMLDivElement>(null)
  const height = heights[density]
  const list = useVirtualizer({
    count: papers.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 12,
    initialRect: { width: 900, height: 700 },
  })
  const lastShown = list.getVirtualItems().at(-1)?.index ?? 0
  useEffect(() => {
    if (lastShown >= papers.length - AHEAD) onMore()
  }, [lastShown, papers.length, onMore])
  const move = (event: KeyboardEvent, place: number) => {
    const step = event.key === 'ArrowDown' || event.key === 'j' ? 1 : event.key === 'ArrowUp' || event.key === 'k' ? -1 : 0
    const next = Math.max(0, Math.min(papers.length - 1, place + step))
    const paper = papers[place]
    if (event.key === 'Enter' && paper) go(href('reader', paper.paper_id))
    else if (event.key === ' ' && paper) onChoose(paper.paper_id)
    else if (step) {
      list.scrollToIndex(next)
      setTimeout(() => frame.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus(), 16)
    } else return
    event.preventDefault()
  }
  const first = Math.max(0, papers.findIndex((paper) => paper.paper_id === chosen))
  return (
    <div className="papers" role="table" aria-rowcount={total + 1} aria-label={t('nav.library')}>
      <div className="papers-head" role="row">
        {columns.map(({ key, word, className }) => (
          <span
            key={word}
            role="columnheader"
            className={className}
            aria-sort={key === null ? undefined : sort.key === key ? (sort.down ? 'descending' : 'ascending') : 'none'}
          >
            {key === null ? (
              t(word)
            ) : (
              <button onClick={() => onSort(key)}>
                {t(word)} {sort.key === key ? sort.down ? <ArrowDown aria-hidden /> : <ArrowUp aria-hidden /> : null}
              </button>
            )}
          </span>
        ))}
      </div>
      <div className="papers-body" ref={frame} role="rowgroup">
        <div role="presentation" style={{ height: list.getTotalSize(), position: 'relative' }}>
          {list.getVirtualItems().map((place) => {
            const paper = papers[place.index]
            if (!paper) return null
            const [Icon, tone] = stateIcons[paper.state]
            return (
              <div
                key={paper.paper_id}
                role="row"
                aria-rowindex={place.index + 2}
                className="paper-row"
                data-row={place.index}
                data-chosen={paper.paper_id === chosen}
                tabIndex={place.index === first ? 0 : -1}
                style={{ height, transform: `translateY(${place.start}px)` }}
                onClick={() => onChoose(paper.paper_id)}
                onDoubleClick={() => go(href('reader', paper.paper_id))}
                onKeyDown={(event) => move(event, place.index)}
              >
                <span role="cell" className="col-title clip">
                  {paper.confidential ? <Lock aria-label={t('paper.confidential')} className="caution lock" /> : null}
                  <PlainTitle text={paper.title} />
                  {paper.label ? <span className="paper-label tiny muted"> {paper.label}</span> : null}
                </span>
                <span role="cell" className="col-author clip muted">
                  {paper.authors[0] ? lastName(paper.authors[0]) : ''}
                  {paper.authors.length > 1 ? ' +' + String(paper.authors.length - 1) : ''}
                </span>
                <span role="cell" className="col-year number">
                  {paper.year ?? ''}
                </span>
                <span role="cell" className="col-journal clip" title={paper.journal}>
                  {paper.journal}
                </span>
                <span role="cell" className="col-tags clip" title={paper.tags.join(', ')}>
                  {paper.tags.map((tag) => (
                    <span key={tag} className="tag-mark tiny">
                      {tag}
                    </span>
                  ))}
                </span>
                <span role="cell" className={`col-state row ${tone}`}>
                  <Icon aria-hidden /> <span className="tiny">{t(`paperState.${paper.state}`)}</span>
                </span>
                <span role="cell" className="col-notes number">
                  {paper.notes || ''}
                </span>
                <span role="cell" className="col-added tiny muted">
                  {day(paper.added_at)}
                </span>
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
