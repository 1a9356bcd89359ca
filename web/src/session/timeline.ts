/**
 * One pure fold from events to what is shown, the same for the live view and for replay: equal
 * events give an equal timeline, however they arrived.
 */
import type { Event, TextDelta, ThinkingDelta, ToolResultEvent, UsageEvent } from '../api/events'
import type { Usage } from '../api/shapes'
import { asTodo, type Item, type SubagentItem, type Timeline, type ToolItem, type ToolState, type Turn } from './items'

const noUsage: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null }

export const emptyTimeline: Timeline = { turns: [], seq: 0, usage: noUsage, contextTokens: 0, todos: [] }

/** Fold one event into the timeline; the timeline given stays as it was. */
export function fold(timeline: Timeline, event: Event): Timeline {
  const next = { ...timeline, seq: Math.max(timeline.seq, event.seq) }
  switch (event.type) {
    case 'turn_started':
      return { ...next, turns: [...next.turns.filter((turn) => turn.id !== event.turn_id), started(event)] }
    case 'text_delta':
    case 'thinking_delta':
      return inTurn(next, event, (items) => withDelta(items, event))
    case 'tool_call':
      return inTurn(next, event, (items) => [...closed(items, event.time), call(event)])
    case 'tool_progress':
      return onTool(next, event, (tool) => ({ ...tool, progress: event.progress, fraction: event.fraction }))
    case 'tool_result':
      return withResult(next, event)
    case 'permission_request':
      return inTurn(next, event, (items) => [...items, permission(event)])
    case 'permission_resolved': {
      const { decision, scope, by } = event
      return resolve(next, 'permission', event.id, { decision, scope, by })
    }
    case 'question':
      return inTurn(next, event, (items) => [...items, question(event)])
    case 'question_resolved':
      return resolve(next, 'question', event.id, { outcome: event.outcome, answer: event.answer })
    case 'todos':
      return withTodos(next, event)
    case 'subagent_started':
      return inTurn(next, event.agent === event.name ? { ...event, agent: 'main' } : event, (items) => [
        ...items,
        subagent(event),
      ])
    case 'subagent_finished':
      return inTurn(next, event.agent === event.name ? { ...event, agent: 'main' } : event, (items) =>
        finishSubagent(items, event),
      )
    case 'compaction':
      return inTurn(next, event, (items) => [
        ...items,
        {
          kind: 'compaction',
          key: `c${event.seq}`,
          how: event.kind,
          outcome: event.outcome,
          before: event.tokens_before,
          after: event.tokens_after,
        },
      ])
    case 'attempt_reset':
      return inTurn(next, event, (items) => [
        ...items.filter((item) => !isStreamed(item) || item.step !== event.step || item.agent !== event.agent),
        { kind: 'retry', key: `r${event.seq}`, agent: event.agent, reason: event.reason },
      ])
    case 'usage':
      return withUsage(next, event)
    case 'answer':
      return onTurn(next, event.turn_id, (turn) => ({
        ...turn,
        answer: event,
        items: withoutDraft(turn.items, event.step),
      }))
    case 'turn_finished':
      return onTurn(next, event.turn_id, (turn) => ({
        ...turn,
        status: event.status,
        error: event.error,
        endedAt: event.time,
        items: stopped(turn.items, event.time),
      }))
    case 'notice':
      return inTurn(next, event, (items) => [
        ...items,
        { kind: 'notice', key: `n${event.seq}`, level: event.level, text: event.text },
      ])
    default:
      event satisfies never
      return next // a newer server's event: readers ignore what they do not know
  }
}

export function foldAll(events: readonly Event[], from: Timeline = emptyTimeline): Timeline {
  return events.reduce(fold, from)
}

/** Tell whether an item is streamed text, which a retry or the answer may take back. */
export function isStreamed(item: Item): item is Extract<Item, { kind: 'text' | 'thinking' }> {
  return item.kind === 'text' || item.kind === 'thinking'
}

function started(event: Extract<Event, { type: 'turn_started' }>): Turn {
  return {
    id: event.turn_id,
    message: event.message,
    model: event.model,
    mode: event.mode,
    thinking: event.enable_thinking,
    items: [],
    answer: null,
    status: 'running',
    error: '',
    usage: noUsage,
    startedAt: event.time,
    endedAt: '',
  }
}

/** A turn that was never seen to start (or none at all) still shows what happened in it. */
function looseTurn(id: string, time: string): Turn {
  return {
    id,
    message: '',
    model: '',
    mode: '',
    thinking: false,
    items: [],
    answer: null,
    status: id ? 'running' : 'completed',
    error: '',
    usage: noUsage,
    startedAt: time,
    endedAt: id ? '' : time,
  }
}

function onTurn(timeline: Timeline, turnId: string, change: (turn: Turn) => Turn): Timeline {
  const place = timeline.turns.findLastIndex((turn) => turn.id === turnId)
  const turn = timeline.turns[place]
  if (!turn) return timeline
  const changed = change(turn)
  return changed === turn ? timeline : { ...timeline, turns: timeline.turns.with(place, changed) }
}

interface Placed {
  turn_id: string
  agent: string
  time: string
}

/** Change the items of the event's agent: the turn's own, or a subagent's. */
function inTurn(timeline: Timeline, event: Placed, change: (items: Item[]) => Item[]): Timeline {
  const last = timeline.turns.at(-1)
  // What happens between turns stands where it happened: in a turn of its own without a message.
  const known = event.turn_id ? timeline.turns.some((turn) => turn.id === event.turn_id) : last?.id === ''
  const placed = known
    ? timeline
    : { ...timeline, turns: [...timeline.turns, looseTurn(event.turn_id, event.time)] }
  return onTurn(placed, event.turn_id, (turn) => ({ ...turn, items: ofAgent(turn.items, event.agent, change) }))
}

/** Apply `change` where the agent's items are; an agent nobody announced shares its turn's list. */
function ofAgent(items: Item[], agent: string, change: (items: Item[]) => Item[]): Item[] {
  if (agent === 'main') return change(items)
  return within(items, agent, change) ?? change(items)
}

function within(items: Item[], agent: string, change: (items: Item[]) => Item[]): Item[] | null {
  for (let place = items.length - 1; place >= 0; place--) {
    const item = items[place]
    if (item?.kind !== 'subagent') continue
    const inner = item.name === agent ? change(item.items) : within(item.items, agent, change)
    if (inner) return items.with(place, { ...item, items: inner })
  }
  return null
}

function withDelta(items: Item[], event: TextDelta | ThinkingDelta): Item[] {
  const kind = event.type === 'text_delta' ? 'text' : 'thinking'
  const last = items.at(-1)
  if (last && isStreamed(last) && last.kind === kind && last.step === event.step && last.agent === event.agent) {
    return items.with(-1, { ...last, text: last.text + event.text, endedAt: event.time })
  }
  const { agent, step, time, text } = event
  return [...closed(items, time), { kind, key: `t${event.seq}`, agent, step, text, startedAt: time, endedAt: time }]
}

/** A thought lasts until the next thing begins, not until its last word came. */
function closed(items: Item[], time: string): Item[] {
  const last = items.at(-1)
  return last?.kind === 'thinking' ? items.with(-1, { ...last, endedAt: time }) : items
}

function call(event: Extract<Event, { type: 'tool_call' }>): ToolItem {
  return {
    kind: 'tool',
    key: `k${event.seq}`,
    agent: event.agent,
    step: event.step,
    id: event.id,
    name: event.name,
    arguments: event.arguments,
    original: event.original,
    state: 'running',
    progress: '',
    fraction: null,
    output: '',
    errorKind: '',
    metadata: {},
    durationMs: 0,
    startedAt: event.time,
  }
}

function onTool(timeline: Timeline, event: Placed & { id: string }, change: (tool: ToolItem) => ToolItem): Timeline {
  return inTurn(timeline, event, (items) => {
    const place = items.findLastIndex((item) => item.kind === 'tool' && item.id === event.id)
    const tool = items[place]
    return tool?.kind === 'tool' ? items.with(place, change(tool)) : items
  })
}

export function toolState(result: Pick<ToolResultEvent, 'is_error' | 'error_kind'>): ToolState {
  if (!result.is_error) return 'done'
  switch (result.error_kind) {
    case 'denied':
    case 'hook_blocked':
    case 'confidential':
      return 'denied'
    case 'cancelled':
    case 'interrupted':
    case 'aborted_by_sibling':
      return 'stopped'
    default:
      return 'failed'
  }
}

function withResult(timeline: Timeline, event: ToolResultEvent): Timeline {
  const given = {
    state: toolState(event),
    output: event.output,
    errorKind: event.error_kind ?? '',
    metadata: event.metadata,
    durationMs: event.duration_ms,
  }
  return inTurn(timeline, event, (items) => {
    const place = items.findLastIndex((item) => item.kind === 'tool' && item.id === event.id)
    const tool = items[place]
    if (tool?.kind === 'tool') return items.with(place, { ...tool, ...given })
    // A call that was refused before it began has a result and no call.
    const base = call({ ...event, type: 'tool_call', arguments: {}, original: null })
    return [...items, { ...base, ...given }]
  })
}

function permission(event: Extract<Event, { type: 'permission_request' }>): Item {
  return {
    kind: 'permission',
    key: `p${event.seq}`,
    agent: event.agent,
    id: event.id,
    toolCallId: event.tool_call_id,
    tool: event.tool,
    arguments: event.arguments,
    argsSha256: event.args_sha256,
    reason: event.reason,
    rule: event.rule,
    resolved: null,
  }
}

function question(event: Extract<Event, { type: 'question' }>): Item {
  return {
    kind: 'question',
    key: `q${event.seq}`,
    agent: event.agent,
    id: event.id,
    question: event.question,
    options: event.options,
    expiresAt: event.expires_at,
    resolved: null,
  }
}

/** Write how a request ended where it stands: an answer may come long after its turn. */
function resolve(timeline: Timeline, kind: 'permission' | 'question', id: string, resolved: object): Timeline {
  const settle = (items: Item[]): Item[] =>
    unlessSame(items, items.map((item) => {
      if (item.kind === kind && item.id === id) return { ...item, resolved } as Item
      if (item.kind !== 'subagent') return item
      const inner = settle(item.items)
      return inner === item.items ? item : { ...item, items: inner }
    }))
  const turns = timeline.turns.map((turn) => {
    const items = settle(turn.items)
    return items === turn.items ? turn : { ...turn, items }
  })
  const changed = unlessSame(timeline.turns, turns)
  return changed === timeline.turns ? timeline : { ...timeline, turns: changed }
}

/** Return `before` itself where nothing in it was changed: what is drawn is compared by identity. */
function unlessSame<T>(before: T[], after: T[]): T[] {
  return after.every((one, place) => one === before[place]) ? before : after
}

function withTodos(timeline: Timeline, event: Extract<Event, { type: 'todos' }>): Timeline {
  const todos = event.todos.map(asTodo)
  const placed = inTurn(timeline, event, (items) => [...closed(items, event.time), { kind: 'todos', key: `d${event.seq}`, todos }])
  return { ...placed, todos }
}

function subagent(event: Extract<Event, { type: 'subagent_started' }>): SubagentItem {
  return {
    kind: 'subagent',
    key: `s${event.seq}`,
    name: event.name,
    task: event.task,
    status: 'running',
    steps: 0,
    toolCalls: 0,
    summary: '',
    items: [],
    startedAt: event.time,
    endedAt: '',
  }
}

function finishSubagent(items: Item[], event: Extract<Event, { type: 'subagent_finished' }>): Item[] {
  const place = items.findLastIndex((item) => item.kind === 'subagent' && item.name === event.name)
  const item = items[place]
  if (item?.kind !== 'subagent') return items
  return items.with(place, {
    ...item,
    status: event.status,
    steps: event.steps,
    toolCalls: event.tool_calls,
    summary: event.summary,
    endedAt: event.time,
    items: stopped(item.items, event.time),
  })
}

function withUsage(timeline: Timeline, event: UsageEvent): Timeline {
  const next = onTurn(timeline, event.turn_id, (turn) => ({ ...turn, usage: sum(turn.usage, event) }))
  const context = event.agent === 'main' ? event.input_tokens + event.output_tokens : timeline.contextTokens
  return { ...next, usage: sum(next.usage, event), contextTokens: context }
}

export function sum(one: Usage, other: Usage): Usage {
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    cost_usd: one.cost_usd === null && other.cost_usd === null ? null : (one.cost_usd ?? 0) + (other.cost_usd ?? 0),
  }
}

/** The answer takes the place of the words that were streamed for it. */
function withoutDraft(items: Item[], step: number): Item[] {
  if (step) return items.filter((item) => !(item.kind === 'text' && item.agent === 'main' && item.step === step))
  const end = items.findLastIndex((item) => item.kind !== 'text' || item.agent !== 'main')
  return items.slice(0, end + 1)
}

/** Nothing runs in a turn that is over. */
function stopped(items: Item[], time: string): Item[] {
  return items.map((item) => {
    if (item.kind === 'tool' && item.state === 'running') return { ...item, state: 'stopped' as const }
    if (item.kind !== 'subagent' || item.endedAt) return item
    return { ...item, status: 'cancelled', endedAt: time, items: stopped(item.items, time) }
  })
}
