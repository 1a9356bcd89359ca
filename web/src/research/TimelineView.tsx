/** A session's timeline as one virtual list: two thousand steps cost what fits the window. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type ReactNode, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState, type Ref } from 'react'
import { Markdown } from '../markdown/Markdown'
import type { Timeline } from '../session/items'
import { type Detail, type Row, toRows, wayTo } from '../session/rows'
import { isWord, type Translate, useWords } from '../words'
import { Answer } from './Answer'
import { ItemLine } from './ItemLine'
import { PermissionCard } from './PermissionCard'
import { QuestionCard } from './QuestionCard'
import { WorkLine } from './WorkLine'
import './timeline.css'

export interface TimelineControl {
  toWaiting: () => void
}

const sizes: Record<Row['kind'], number> = { message: 56, work: 36, item: 34, waiting: 240, draft: 160, answer: 420, end: 40 }
/** So near to the end one reads along; anywhere else the page stays where it is. */
const NEAR_END = 80

interface Given {
  timeline: Timeline
  detail: Detail
  control?: Ref<TimelineControl>
  at?: number | undefined
  /** A tool call to open and to show, as the audit log names it. */
  call?: string
}

export function TimelineView({ timeline, detail, control, at, call = '' }: Given) {
  const t = useWords()
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map())
  const fold = useCallback((key: string, open: boolean) => setFolds((known) => new Map(known).set(key, open)), [])
  const rows = useMemo(() => toRows(timeline, folds, detail), [timeline, folds, detail])
  const frame = useRef<HTMLDivElement>(null)
  const following = useRef(true)
  const [goal, setGoal] = useState('')

  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => sizes[rows[index]?.kind ?? 'item'],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    initialRect: { width: 780, height: 900 },
  })

  const total = list.getTotalSize()
  const shownTurn = useRef('')
  const lastTurn = timeline.turns.at(-1)?.id ?? ''
  const lastRow = rows.at(-1)
  useLayoutEffect(() => {
    const node = frame.current
    if (!node || !lastRow) return
    if (shownTurn.current !== lastTurn) {
      shownTurn.current = lastTurn
      // What is done is read from its question on; what runs is followed at its end.
      following.current = lastRow.turn.status === 'running'
      const question = rows.findLastIndex((row) => row.kind === 'message')
      if (!following.current && question >= 0) list.scrollToIndex(question, { align: 'start' })
    }
    if (following.current) node.scrollTop = node.scrollHeight
  }, [total, rows, lastRow, lastTurn, list])

  const shownCall = useRef('')
  useEffect(() => {
    if (!call || shownCall.current === call) return
    const way = wayTo(timeline, call)
    const key = way.at(-1)
    if (key === undefined) return
    shownCall.current = call
    following.current = false
    const open = new Map(way.map((fold) => [fold, true]))
    setFolds((known) => new Map([...known, ...open]))
    // The list has the call's line once the folds above it are open.
    setTimeout(() => setGoal(key), 0)
  }, [call, timeline])
  useEffect(() => {
    const place = goal ? rows.findIndex((row) => row.key === goal) : -1
    if (place < 0) return
    list.scrollToIndex(place, { align: 'center' })
    setGoal('')
  }, [goal, rows, list])

  useImperativeHandle(control, () => ({
    toWaiting: () => {
      const place = rows.findIndex((row) => row.kind === 'waiting')
      const row = rows[place]
      if (row?.kind !== 'waiting') return
      following.current = false
      list.scrollToIndex(place, { align: 'center' })
      // The card exists once the list has scrolled to it.
      setTimeout(() => {
        frame.current?.querySelector<HTMLElement>(`[data-waiting="${CSS.escape(row.item.id)}"]`)?.focus()
      }, 80)
    },
  }))

  const onScroll = () => {
    const node = frame.current
    if (node) following.current = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_END
  }

  return (
    <div className="timeline" ref={frame} onScroll={onScroll} tabIndex={-1}>
      <div className="timeline-list" style={{ height: total }}>
        {list.getVirtualItems().map((place) => {
          const row = rows[place.index]
          return row ? (
            <div
              key={place.key}
              ref={list.measureElement}
              data-index={place.index}
              className={`slot slot-${row.kind}`}
              style={{ transform: `translateY(${place.start}px)` }}
            >
              <RowBody row={row} onFold={fold} t={t} at={at} />
            </div>
          ) : null
        })}
      </div>
      <Announcer timeline={timeline} />
    </div>
  )
}

interface RowGiven {
  row: Row
  onFold: (key: string, open: boolean) => void
  t: Translate
  at: number | undefined
}

function RowBody({ row, onFold, t, at }: RowGiven): ReactNode {
  switch (row.kind) {
    case 'message':
      return <h2 className="message">{row.turn.message}</h2>
    case 'work':
      return <WorkLine turn={row.turn} open={row.open} at={at} onToggle={() => onFold(row.turn.id, !row.open)} />
    case 'item':
      return <ItemLine item={row.item} depth={row.depth} open={row.open} onToggle={onFold} />
    case 'waiting':
      // Long decided: a replay shows what was asked, and asks nobody.
      if (at !== undefined) return <ItemLine item={row.item} depth={0} open={false} onToggle={onFold} />
      return row.item.kind === 'permission' ? <PermissionCard request={row.item} /> : <QuestionCard asked={row.item} />
    case 'draft':
      return <Markdown text={row.text.text} />
    case 'answer':
      return row.turn.answer ? <Answer answer={row.turn.answer} /> : null
    case 'end': {
      const word = `turn.${row.turn.status}`
      return (
        <p className={`turn-end ${row.turn.status === 'failed' ? 'bad' : 'caution'}`}>
          {isWord(word) ? t(word) : row.turn.status}
          {row.turn.error ? <Fragment> {row.turn.error}</Fragment> : null}
        </p>
      )
    }
  }
}

/** Tells a screen reader that work began and ended; never the words between. */
function Announcer({ timeline }: { timeline: Timeline }) {
  const t = useWords()
  const turn = timeline.turns.findLast((one) => one.id)
  const state = turn?.status ?? ''
  const [said, setSaid] = useState('')
  const last = useRef(state)
  useEffect(() => {
    if (!last.current) last.current = state
    if (last.current === state) return
    last.current = state
    setSaid(t(state === 'running' ? 'announce.started' : 'announce.ended'))
  }, [state, t])
  return (
    <div className="hidden-text" role="status">
      {said}
    </div>
  )
}
