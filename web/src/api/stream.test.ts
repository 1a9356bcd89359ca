import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Event } from './events'
import { follow, FrameReader, parseEvent, type Connection } from './stream'

describe('frames', () => {
  const wire = ': beat\n\nid: 1\ndata: {"a":1}\n\nid: 2\r\ndata: x\r\ndata: y\r\n\r\nid: 3\rdata:z\r\r\n'

  test('are the same however the bytes are cut', () => {
    const whole = new FrameReader().push(wire)
    expect(whole).toEqual([
      { id: '1', data: '{"a":1}' },
      { id: '2', data: 'x\ny' },
      { id: '3', data: 'z' },
    ])
    for (let size = 1; size < 9; size++) {
      const reader = new FrameReader()
      const frames = []
      for (let at = 0; at < wire.length; at += size) frames.push(...reader.push(wire.slice(at, at + size)))
      expect(frames).toEqual(whole)
    }
  })

  test('that hold no event are skipped', () => {
    expect(parseEvent('{broken')).toEqual([])
    expect(parseEvent('[1]')).toEqual([])
  })
})

/** A server that sends the given text and then ends the answer. */
function answering(...answers: (string | number)[]) {
  const asked: { url: string; last: string | null }[] = []
  const fetched = vi.fn((url: string, init: RequestInit) => {
    const next = answers.shift() ?? 404
    asked.push({ url, last: new Headers(init.headers).get('Last-Event-ID') })
    return Promise.resolve(typeof next === 'number' ? new Response('', { status: next }) : new Response(next))
  })
  vi.stubGlobal('fetch', fetched)
  return asked
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const frame = (seq: number) => `id: ${seq}\ndata: ${JSON.stringify({ type: 'notice', seq })}\n\n`

async function followed(after: number): Promise<{ seqs: number[]; states: Connection[] }> {
  const seqs: number[] = []
  const states: Connection[] = []
  await new Promise<void>((resolve) => {
    follow('s1', after, {
      onEvents: (events) => seqs.push(...events.map((event) => (event as Event).seq)),
      onConnection: (state) => {
        states.push(state)
        if (state === 'waiting') window.dispatchEvent(new Event_('online'))
        if (state === 'closed' || state === 'refused') resolve()
      },
    })
  })
  return { seqs, states }
}
const Event_ = globalThis.Event

describe('following a session', () => {
  test('goes on after a cut where it was, and ends when the session is gone', async () => {
    const asked = answering(frame(1) + frame(2) + 'id: 3\ndata: {"ty', frame(3), 404)
    const waiting = followed(0)
    const { seqs, states } = await waiting
    expect(seqs).toEqual([1, 2, 3])
    expect(asked.map((one) => one.last)).toEqual([null, '2', '3'])
    expect(states.at(-1)).toBe('closed')
  })

  test('stops asking where the key is refused', async () => {
    const asked = answering(401)
    const { states } = await followed(0)
    expect(states).toEqual(['connecting', 'refused'])
    expect(asked).toHaveLength(1)
  })
})
