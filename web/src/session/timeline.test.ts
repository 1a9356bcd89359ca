import { describe, expect, test } from 'vitest'
import type { Event } from '../api/events'
import { call, conversation, finish, recorded, result, start } from '../test/recorded'
import type { Item, Timeline } from './items'
import { emptyLog, receive } from './log'
import { emptyTimeline, foldAll } from './timeline'

function items(timeline: Timeline): Item[] {
  return timeline.turns[0]?.items ?? []
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}

describe('the fold', () => {
  test('joins the deltas of one step and starts anew in the next', () => {
    const shown = items(foldAll(conversation.slice(0, 19)))
    expect(shown.map((item) => ('text' in item ? item.text : item.kind))).toEqual([
      'Let me see.', 'I look.', 'tool', 'subagent', 'todos', 'question', 'So it is.',
    ])
  })

  test('puts the answer in the place of the words that were streamed for it, and of no others', () => {
    const timeline = foldAll(conversation)
    expect(timeline.turns[0]?.answer?.text).toBe('So.')
    expect(items(timeline).flatMap((item) => (item.kind === 'text' ? item.text : []))).toEqual(['I look.'])
  })

  test('drops the deltas of a step that is tried again, keeps calls and other steps', () => {
    const events = recorded(
      start,
      { type: 'text_delta', text: 'one', step: 1 },
      call('a'),
      { type: 'thinking_delta', text: 'hm', step: 2 },
      { type: 'text_delta', text: 'tw', step: 2 },
      { type: 'attempt_reset', reason: 'cut', step: 2 },
      { type: 'text_delta', text: 'two', step: 2 },
    )
    const shown = items(foldAll(events))
    expect(shown.map((item) => item.kind)).toEqual(['text', 'tool', 'retry', 'text'])
    expect(shown.at(-1)).toMatchObject({ text: 'two' })
  })

  test('nests a subagent’s steps and resolves what waits inside', () => {
    const subagent = items(foldAll(conversation)).find((item) => item.kind === 'subagent')
    expect(subagent).toMatchObject({ name: 'reader', status: 'completed', summary: 'Read.', steps: 2 })
    expect(subagent?.items.map((item) => item.kind)).toEqual(['tool', 'permission'])
    expect(subagent?.items[0]).toMatchObject({ state: 'failed', errorKind: 'upstream' })
    expect(subagent?.items[1]).toMatchObject({ resolved: { decision: 'allow', scope: 'once', by: 'user' } })
  })

  test('an answer to a question that comes after its turn stands at the question', () => {
    const asked = items(foldAll(conversation)).find((item) => item.kind === 'question')
    expect(asked?.resolved).toEqual({ outcome: 'answered', answer: 'A' })
    expect(foldAll(conversation).turns).toHaveLength(1)
  })

  test('a result without a call is shown, and nothing runs in a turn that is over', () => {
    const refused = foldAll(recorded(start, result('z', { is_error: true, error_kind: 'unknown_tool' })))
    expect(items(refused)[0]).toMatchObject({ kind: 'tool', state: 'failed' })
    const cut = foldAll(recorded(start, call('a'), { ...finish, status: 'cancelled' }))
    expect(items(cut)[0]).toMatchObject({ state: 'stopped' })
  })

  test('sums usage, with a cost only where one is known', () => {
    const timeline = foldAll(conversation)
    expect(timeline.usage).toMatchObject({ input_tokens: 200, output_tokens: 20, cost_usd: 0.01 })
    expect(timeline.contextTokens).toBe(110)
  })

  test('an event of a newer server changes nothing but the place', () => {
    const unknown = { ...conversation[0], type: 'aurora', seq: 99 } as unknown as Event
    const before = foldAll(conversation)
    expect(foldAll([unknown], before)).toEqual({ ...before, seq: 99 })
  })

  test('changes nothing that it was given', () => {
    const frozen = deepFreeze(structuredClone(conversation))
    let timeline = deepFreeze(emptyTimeline)
    for (const event of frozen) timeline = deepFreeze(foldAll([event], timeline))
    expect(timeline).toEqual(foldAll(conversation))
  })
})

/** A small generator with a seed: the same shuffles in every run. */
function* random(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1664525 + 1013904223) % 4294967296
    yield state / 4294967296
  }
}

function shuffled<T>(list: readonly T[], numbers: Generator<number>): T[] {
  const keyed = list.map((one) => [Number(numbers.next().value), one] as const)
  return keyed.sort(([one], [other]) => one - other).map(([, one]) => one)
}

describe('the log', () => {
  const replayed = foldAll(conversation)

  test('one by one, in chunks or at once: live equals replay', () => {
    for (const size of [1, 2, 3, 7, conversation.length]) {
      let log = emptyLog
      for (let at = 0; at < conversation.length; at += size) log = receive(log, conversation.slice(at, at + size))
      expect(log.timeline).toEqual(replayed)
    }
  })

  test('a page that is loaded again at any moment shows the same', () => {
    for (let cut = 0; cut <= conversation.length; cut++) {
      const first = receive(emptyLog, conversation.slice(0, cut))
      const again = receive(emptyLog, first.events)
      expect(receive(again, conversation.slice(cut)).timeline).toEqual(replayed)
    }
  })

  test('whatever the order and however often they come, the timeline is one', () => {
    const numbers = random(7)
    for (let round = 0; round < 60; round++) {
      const mixed = shuffled([...conversation, ...conversation.slice(0, round % 9)], numbers)
      let log = emptyLog
      for (let at = 0; at < mixed.length; ) {
        const size = 1 + Math.floor(Number(numbers.next().value) * 5)
        log = receive(log, mixed.slice(at, at + size))
        at += size
      }
      expect(log.timeline).toEqual(replayed)
    }
  })

  test('a duplicate costs nothing: the log stays the same object', () => {
    const log = receive(emptyLog, conversation)
    expect(receive(log, conversation.slice(3, 6))).toBe(log)
  })

  test('a reset takes back what was read from its place on', () => {
    const log = receive(emptyLog, conversation)
    const reset = receive(log, [{ type: 'reset', reason: 'restored', from_seq: 5 }])
    expect(reset.timeline).toEqual(foldAll(conversation.slice(0, 4)))
    expect(receive(reset, conversation.slice(4)).timeline).toEqual(replayed)
  })

  test('two thousand tool calls fold one by one in bounded work', () => {
    const many = recorded(start, ...Array.from({ length: 2000 }, (_, at) => [call(`c${at}`), result(`c${at}`)]).flat())
    let log = emptyLog
    for (const event of many) log = receive(log, [event])
    expect(items(log.timeline)).toHaveLength(2000)
  })
})
