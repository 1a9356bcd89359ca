/** A small conversation with one of everything, as the server records it. */
import type { Event } from '../api/events'

export type Draft = { type: Event['type'] } & Record<string, unknown>

/** Events as the server numbers them. */
export function recorded(...drafts: Draft[]): Event[] {
  return drafts.map((draft, index) => ({
    v: 1,
    seq: index + 1,
    session_id: 's1',
    turn_id: 't1',
    step: 1,
    agent: 'main',
    time: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`,
    ...draft,
  })) as unknown as Event[]
}

export const start = { type: 'turn_started', message: 'Why?', model: 'm', mode: 'ask', enable_thinking: false } as const
export const call = (id: string, name = 'rag_search') => ({ type: 'tool_call', id, tool_call_id: id, name, arguments: { query: id }, original: null }) as const
export const result = (id: string, more = {}) =>
  ({ type: 'tool_result', id, tool_call_id: id, name: 'rag_search', output: `out ${id}`, is_error: false, error_kind: null, metadata: {}, duration_ms: 5, ...more }) as const
export const answer = { type: 'answer', text: 'So.', citations: [], unsupported: [], answered: true, dropped_quotes: 0, searched: { papers_in_library: 0, papers: [], passages: 0, pages: {}, unreadable: [], near_misses: [], queries: [] }, degraded: [] } as const
export const finish = { type: 'turn_finished', status: 'completed', error: '' } as const

const usage = { type: 'usage', input_tokens: 100, output_tokens: 10, cached_tokens: 0, reasoning_tokens: 0 } as const

export const conversation = recorded(
  start,
  { type: 'thinking_delta', text: 'Let me ' },
  { type: 'thinking_delta', text: 'see.' },
  { type: 'text_delta', text: 'I look.' },
  { ...usage, cost_usd: 0.01 },
  call('a'),
  { type: 'tool_progress', id: 'a', progress: 'page 3 of 9', fraction: 0.33 },
  { type: 'subagent_started', name: 'reader', task: 'Read it' },
  { ...call('b'), agent: 'reader' },
  { type: 'permission_request', id: 'p', tool_call_id: 'b', tool: 'rag_search', arguments: {}, args_sha256: 'x', reason: 'new host', rule: 'r', agent: 'reader' },
  result('a', { metadata: { passages: [{ paper_id: 'k3f2a9c1' }, { paper_id: 'k3f2a9c1' }] } }),
  { type: 'permission_resolved', id: 'p', tool_call_id: 'b', decision: 'allow', scope: 'once', by: 'user', agent: 'reader' },
  { ...result('b', { is_error: true, error_kind: 'upstream' }), agent: 'reader' },
  { type: 'subagent_finished', name: 'reader', status: 'completed', steps: 2, tool_calls: 1, summary: 'Read.' },
  { type: 'todos', todos: [{ id: '1', content: 'Read', status: 'completed', blockedBy: [] }] },
  { type: 'question', id: 'q', question: 'Which?', options: ['A'], expires_at: '' },
  { ...usage, cost_usd: null, step: 2 },
  { type: 'text_delta', text: 'So ', step: 2 },
  { type: 'text_delta', text: 'it is.', step: 2 },
  { ...answer, step: 2 },
  finish,
  { type: 'question_resolved', id: 'q', outcome: 'answered', answer: 'A', turn_id: '' },
)
