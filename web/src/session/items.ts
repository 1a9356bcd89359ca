/** What a session's timeline is made of. */
import type { AnswerEvent, TurnFinished } from '../api/events'
import type { PermissionMode, Usage } from '../api/shapes'

export type ToolState = 'running' | 'done' | 'failed' | 'denied' | 'stopped'

export interface TextItem {
  kind: 'text' | 'thinking'
  key: string
  agent: string
  step: number
  text: string
  startedAt: string
  endedAt: string
}

export interface ToolItem {
  kind: 'tool'
  key: string
  agent: string
  step: number
  id: string
  name: string
  arguments: Record<string, unknown>
  original: Record<string, unknown> | null
  state: ToolState
  progress: string
  fraction: number | null
  output: string
  errorKind: string
  metadata: Record<string, unknown>
  durationMs: number
  startedAt: string
}

export interface SubagentItem {
  kind: 'subagent'
  key: string
  name: string
  task: string
  status: string
  steps: number
  toolCalls: number
  summary: string
  items: Item[]
  startedAt: string
  endedAt: string
}

export interface PermissionItem {
  kind: 'permission'
  key: string
  agent: string
  id: string
  toolCallId: string
  tool: string
  arguments: Record<string, unknown>
  argsSha256: string
  reason: string
  rule: string
  /** Null while it waits. */
  resolved: { decision: 'allow' | 'deny'; scope: string; by: string } | null
}

export interface QuestionItem {
  kind: 'question'
  key: string
  agent: string
  id: string
  question: string
  options: string[]
  expiresAt: string
  resolved: { outcome: string; answer: string } | null
}

export interface Todo {
  id: string
  content: string
  status: 'pending' | 'in_progress' | 'completed'
  blockedBy: string[]
}

/** Read a todo as the model wrote it; a state that nobody knows is not done. */
export function asTodo(raw: Record<string, unknown>): Todo {
  const { id, content, status, blockedBy } = raw
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
  return {
    id: text(id),
    content: text(content),
    status: status === 'completed' || status === 'in_progress' ? status : 'pending',
    blockedBy: Array.isArray(blockedBy) ? blockedBy.map(text) : [],
  }
}

export interface TodosItem {
  kind: 'todos'
  key: string
  todos: Todo[]
}

export interface CompactionItem {
  kind: 'compaction'
  key: string
  how: string
  outcome: string
  before: number
  after: number
}

export interface NoticeItem {
  kind: 'notice'
  key: string
  level: 'info' | 'warning' | 'error'
  text: string
}

/** A stream that was tried again; its first words are gone. */
export interface RetryItem {
  kind: 'retry'
  key: string
  agent: string
  reason: string
}

export type Item =
  | TextItem
  | ToolItem
  | SubagentItem
  | PermissionItem
  | QuestionItem
  | TodosItem
  | CompactionItem
  | NoticeItem
  | RetryItem

export interface Turn {
  id: string
  /** Empty for what happened outside of any turn. */
  message: string
  model: string
  mode: PermissionMode | ''
  thinking: boolean
  items: Item[]
  answer: AnswerEvent | null
  status: 'running' | TurnFinished['status']
  error: string
  usage: Usage
  startedAt: string
  endedAt: string
}

export interface Timeline {
  turns: Turn[]
  /** The greatest `seq` that is in. */
  seq: number
  usage: Usage
  /** Tokens of the newest request of the main agent: how full the context is. */
  contextTokens: number
  todos: Todo[]
}
