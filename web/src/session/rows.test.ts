import { expect, test } from 'vitest'
import { conversation, recorded } from '../test/recorded'
import { allWaiting, countWork, toRows, wayTo } from './rows'
import { foldAll } from './timeline'

const closed = new Map<string, boolean>()

test('folded, a finished turn is its question, one line and the answer', () => {
  const rows = toRows(foldAll(conversation), closed, 'quiet')
  expect(rows.map((row) => row.kind)).toEqual(['message', 'work', 'answer'])
})

test('open, it shows everything in the original order', () => {
  const rows = toRows(foldAll(conversation), new Map([['t1', true]]), 'quiet')
  const kinds = rows.flatMap((row) => (row.kind === 'item' ? row.item.kind : []))
  expect(kinds).toEqual(['thinking', 'text', 'tool', 'subagent', 'todos', 'question'])
})

test('failures stay in sight when the rest is folded', () => {
  const events = recorded(
    { type: 'turn_started', message: 'm', model: '', mode: 'ask', enable_thinking: false },
    { type: 'tool_result', id: 'a', tool_call_id: 'a', name: 'x', output: '', is_error: true, error_kind: 'upstream', metadata: {}, duration_ms: 1 },
  )
  expect(toRows(foldAll(events), closed, 'normal').map((row) => row.kind)).toEqual(['message', 'work', 'item'])
})

test('what waits is shown however folded, and no longer once it is decided', () => {
  const asked = foldAll(conversation.slice(0, 10))
  expect(allWaiting(asked).map((item) => item.id)).toEqual(['p'])
  expect(toRows(asked, closed, 'quiet').map((row) => row.kind)).toContain('waiting')
  expect(allWaiting(foldAll(conversation))).toEqual([])
})

test('a permission of a turn that is over waits for nobody, a question does', () => {
  const over = foldAll(conversation.slice(0, 21))
  expect(allWaiting(over).map((item) => item.kind)).toEqual(['question'])
})

test('counts the tools of subagents, failures and distinct papers', () => {
  const work = countWork(foldAll(conversation).turns[0]?.items ?? [])
  expect(work).toEqual({ tools: 2, failed: 1, papers: 1 })
})

test('the way to a call leads through its turn and its subagents', () => {
  const timeline = foldAll(conversation)
  const way = wayTo(timeline, 'b')
  expect(way).toHaveLength(3)
  const rows = toRows(timeline, new Map(way.map((key) => [key, true])), 'quiet')
  expect(rows.find((row) => row.key === way.at(-1))).toMatchObject({ kind: 'item', depth: 1, open: true })
  expect(wayTo(timeline, 'nowhere')).toEqual([])
})
