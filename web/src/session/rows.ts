/** The timeline as lines of a list: what is folded away is not in it. */
import type { Item, PermissionItem, QuestionItem, TextItem, Timeline, ToolItem, Turn } from './items'

export type Waiting = PermissionItem | QuestionItem

export type Row =
  | { kind: 'message'; key: string; turn: Turn }
  | { kind: 'work'; key: string; turn: Turn; open: boolean }
  | { kind: 'item'; key: string; turn: Turn; item: Item; depth: number; open: boolean }
  | { kind: 'waiting'; key: string; turn: Turn; item: Waiting }
  | { kind: 'draft'; key: string; turn: Turn; text: TextItem }
  | { kind: 'answer'; key: string; turn: Turn }
  | { kind: 'end'; key: string; turn: Turn }

/** Which folds a person opened or closed; what they left alone follows the detail they chose. */
export type Folds = ReadonlyMap<string, boolean>
export type Detail = 'quiet' | 'normal' | 'full'

export function toRows(timeline: Timeline, folds: Folds, detail: Detail): Row[] {
  return timeline.turns.flatMap((turn) => turnRows(turn, folds, detail))
}

function turnRows(turn: Turn, folds: Folds, detail: Detail): Row[] {
  const key = turn.id || `loose-${turn.startedAt}`
  const rows: Row[] = turn.message ? [{ kind: 'message', key: `${key}-message`, turn }] : []
  const draft = draftOf(turn)
  const work = draft ? turn.items.slice(0, -1) : turn.items
  const open = folds.get(key) ?? (detail === 'full' || !turn.id)
  if (work.length || turn.status === 'running') {
    if (turn.id) rows.push({ kind: 'work', key: `${key}-work`, turn, open })
    if (open) rows.push(...itemRows(turn, work, folds, detail, 0))
    else if (detail !== 'quiet') rows.push(...failures(turn, work, folds))
  }
  rows.push(...waitingIn(work, turn).map((item): Row => ({ kind: 'waiting', key: `${item.key}-waits`, turn, item })))
  if (draft) rows.push({ kind: 'draft', key: `${key}-draft`, turn, text: draft })
  if (turn.answer) rows.push({ kind: 'answer', key: `${key}-answer`, turn })
  if (turn.id && turn.status !== 'running' && turn.status !== 'completed') rows.push({ kind: 'end', key: `${key}-end`, turn })
  return rows
}

/** The words that are being written, or that were left where no answer came. */
export function draftOf(turn: Turn): TextItem | null {
  const last = turn.items.at(-1)
  return !turn.answer && last?.kind === 'text' && last.agent === 'main' ? last : null
}

function itemRows(turn: Turn, items: readonly Item[], folds: Folds, detail: Detail, depth: number): Row[] {
  return items.flatMap((item): Row[] => {
    const open = folds.get(item.key) ?? (item.kind === 'subagent' && detail === 'full')
    const row: Row = { kind: 'item', key: item.key, turn, item, depth, open }
    return item.kind === 'subagent' && open
      ? [row, ...itemRows(turn, item.items, folds, detail, depth + 1)]
      : [row]
  })
}

/** What went wrong stays in sight when the rest is folded. */
function failures(turn: Turn, items: readonly Item[], folds: Folds): Row[] {
  return items
    .filter((item) => (item.kind === 'tool' && item.state === 'failed') || (item.kind === 'notice' && item.level === 'error'))
    .map((item) => ({ kind: 'item', key: item.key, turn, item, depth: 0, open: folds.get(item.key) ?? false }))
}

/** A permission is asked for while its turn runs; a question can be answered long after. */
export function waitingIn(items: readonly Item[], turn: Turn): Waiting[] {
  return items.flatMap((item): Waiting[] => {
    if (item.kind === 'subagent') return waitingIn(item.items, turn)
    if (item.kind === 'permission') return item.resolved || turn.status !== 'running' ? [] : [item]
    if (item.kind !== 'question') return []
    const open = !item.resolved || item.resolved.outcome === 'timed_out' || item.resolved.outcome === 'no_user'
    return open ? [item] : []
  })
}

export function allWaiting(timeline: Timeline): Waiting[] {
  return timeline.turns.flatMap((turn) => waitingIn(turn.items, turn))
}

/** Keys of the folds that must be open for a tool call to be seen, the call's own last; empty where it is unknown. */
export function wayTo(timeline: Timeline, callId: string): string[] {
  const inside = (items: readonly Item[]): string[] | null => {
    for (const item of items) {
      if (item.kind === 'tool' && item.id === callId) return [item.key]
      const below = item.kind === 'subagent' ? inside(item.items) : null
      if (below) return [item.key, ...below]
    }
    return null
  }
  for (const turn of timeline.turns.toReversed()) {
    const way = inside(turn.items)
    if (way) return [turn.id, ...way]
  }
  return []
}

export interface WorkCount {
  tools: number
  failed: number
  papers: number
}

/** What a work block's one line says. */
export function countWork(items: readonly Item[]): WorkCount {
  const papers = new Set<string>()
  let tools = 0
  let failed = 0
  const visit = (list: readonly Item[]) => {
    for (const item of list) {
      if (item.kind === 'subagent') visit(item.items)
      if (item.kind !== 'tool') continue
      tools++
      if (item.state === 'failed') failed++
      for (const paper of papersRead(item)) papers.add(paper)
    }
  }
  visit(items)
  return { tools, failed, papers: papers.size }
}

const reading = new Set(['rag_search', 'get_paper_content'])

function papersRead(tool: ToolItem): string[] {
  if (!reading.has(tool.name)) return []
  const passages = Array.isArray(tool.metadata.passages) ? tool.metadata.passages : [tool.metadata]
  return passages.flatMap((one: unknown) => {
    const id = typeof one === 'object' && one !== null ? (one as Record<string, unknown>).paper_id : ''
    return typeof id === 'string' && id ? [id] : []
  })
}

/** The innermost thing that happens now. */
export function current(items: readonly Item[]): Item | null {
  const last = items.at(-1)
  if (last?.kind === 'subagent' && last.status === 'running') return current(last.items) ?? last
  const running = items.findLast((item) => item.kind === 'tool' && item.state === 'running')
  return running ?? last ?? null
}
