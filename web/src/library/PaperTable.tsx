/** All papers that fit, a row each; only the rows in view are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp, CircleAlert, CircleCheck, CircleDashed, CircleDot, Lock, type LucideIcon } from 'lucide-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
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
  /** What was asked for: another question is answered from the top. */
  query: string
  /** How far down one begins. */
  top: number
  onScrolled: (top: number) => void
}

function rowOf(frame: HTMLElement | null, id: string): HTMLElement | undefined {
  return [...(frame?.querySelectorAll<HTMLElement>('.paper-row') ?? [])].find((row) => row.dataset.paper === id)
}

export function PaperTable({ papers, total, chosen, sort, onSort, onChoose, onMore, query, top, onScrolled }: Given) {
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
  const begun = useRef('')
  const ready = papers.length > 0
  useLayoutEffect(() => {
    const key = `?${query}`
    if (!ready || !frame.current || begun.current === key) return
    frame.current.scrollTop = begun.current ? 0 : top
    begun.current = key
  }, [ready, query, top])

  // One row takes the tabulator: the one that was last at work, or the first that is seen.
  const [held, setHeld] = useState(chosen)
  const { startIndex, endIndex } = list.range ?? { startIndex: 0, endIndex: papers.length - 1 }
  const seen = papers.slice(startIndex, endIndex + 1)
  const tabbed = (seen.find((paper) => paper.paper_id === held) ?? seen.find((paper) => paper.paper_id === chosen) ?? seen[0])?.paper_id

  // A row that the keys lead to may have to come into the page first.
  const wanted = useRef<string | null>(null)
  useEffect(() => {
    if (wanted.current === null) return
    const row = rowOf(frame.current, wanted.current)
    if (!row) return
    wanted.current = null
    row.focus({ preventScroll: true })
  })
  const toEnd = useRef(false)
  const lead = (place: number) => {
    const paper = papers[Math.max(0, Math.min(papers.length - 1, place))]
    if (!paper) return
    wanted.current = paper.paper_id
    setHeld(paper.paper_id)
    list.scrollToIndex(papers.indexOf(paper))
  }
  const move = (event: KeyboardEvent, place: number) => {
    const paper = papers[place]
    const screen = Math.max(1, Math.floor((frame.current?.clientHeight ?? 0) / height) - 1)
    const to = {
      ArrowDown: place + 1, j: place + 1, ArrowUp: place - 1, k: place - 1, Home: 0, End: papers.length - 1, PageDown: place + screen, PageUp: place - screen,
    }[event.key]
    if (event.ctrlKey || event.metaKey || event.altKey) return
    toEnd.current = event.key === 'End' && papers.length < total
    if (event.key === 'Enter' && paper) go(href('reader', paper.paper_id))
    else if (event.key === ' ' && paper) onChoose(paper.paper_id)
    else if (to !== undefined) lead(to)
    else return
    event.preventDefault()
  }
  // The end of a long list comes page by page.
  const length = useRef(papers.length)
  useEffect(() => {
    if (toEnd.current && papers.length > length.current) {
      lead(papers.length - 1)
      toEnd.current = papers.length < total
    }
    length.current = papers.length
  })
  // A row that is scrolled away with the focus on it leaves it to the first that is seen.
  const focused = useRef('')
  useEffect(() => {
    if (!focused.current || document.activeElement !== document.body) return
    if (!tabbed || rowOf(frame.current, focused.current)) return
    rowOf(frame.current, tabbed)?.focus({ preventScroll: true })
  })
  const onFocus = (id: string) => {
    focused.current = id
    setHeld(id)
  }
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
      <div className="papers-body" ref={frame} role="rowgroup" onScroll={(event) => onScrolled(event.currentTarget.scrollTop)}>
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
                data-paper={paper.paper_id}
                data-chosen={paper.paper_id === chosen}
                tabIndex={paper.paper_id === tabbed ? 0 : -1}
                style={{ height, transform: `translateY(${place.start}px)` }}
                onClick={() => onChoose(paper.paper_id)}
                onDoubleClick={() => go(href('reader', paper.paper_id))}
                onFocus={() => onFocus(paper.paper_id)}
                onBlur={(event) => {
                  if (event.relatedTarget) focused.current = ''
                }}
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
