/**
 * Server-sent events over fetch: EventSource can neither tell a refusal from a lost line nor start
 * with a Last-Event-ID of its own, and a reload must go on where the page was.
 */
import type { Event } from './events'
import { apiUrl } from './client'

export type Connection = 'connecting' | 'live' | 'waiting' | 'closed' | 'refused'

/** The stream lost the reader's place: what was read from `from_seq` on must be read again. */
export interface Reset {
  type: 'reset'
  reason: string
  from_seq: number
}

export interface Frame {
  id: string
  data: string
}

/** Cut a stream of text into frames; lines may end in CR, LF or both, chunks anywhere. */
export class FrameReader {
  #rest = ''
  #id = ''
  #data: string[] = []

  push(chunk: string): Frame[] {
    const frames: Frame[] = []
    this.#rest += chunk
    for (;;) {
      const match = /\r\n|\n|\r(?!$)/.exec(this.#rest)
      if (!match) return frames
      this.#line(this.#rest.slice(0, match.index), frames)
      this.#rest = this.#rest.slice(match.index + match[0].length)
    }
  }

  #line(line: string, frames: Frame[]): void {
    if (line === '') {
      if (this.#data.length) frames.push({ id: this.#id, data: this.#data.join('\n') })
      this.#data = []
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return // a heartbeat
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.#data.push(value)
    else if (field === 'id') this.#id = value
  }
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000
/** The server sends a comment at least this often; silence beyond it is a dead line. */
const SILENCE_MS = 60_000

export interface Listener {
  onEvents: (events: (Event | Reset)[]) => void
  onConnection: (state: Connection) => void
}

/** Follow a session from `after` until stopped; the returned function stops. */
export function follow(sessionId: string, after: number, listener: Listener): () => void {
  const abort = new AbortController()
  const stopped = () => abort.signal.aborted
  let last = after
  let wait = FIRST_WAIT_MS

  const note = (event: Event | Reset) => {
    if (event.type === 'reset') last = Math.max(0, event.from_seq - 1)
    else if (event.seq > last) last = event.seq
  }

  const read = async (): Promise<'again' | 'refused' | 'closed'> => {
    const silence = new AbortController()
    const headers: Record<string, string> = { Accept: 'text/event-stream' }
    if (last > 0) headers['Last-Event-ID'] = String(last)
    const response = await fetch(apiUrl(`/sessions/${encodeURIComponent(sessionId)}/events?after=${last}`), {
      headers,
      credentials: 'same-origin',
      signal: AbortSignal.any([abort.signal, silence.signal]),
    })
    if (response.status === 404 || response.status === 410) return 'closed'
    if (response.status === 401 || response.status === 403) return 'refused'
    if (!response.ok || !response.body) return 'again'
    listener.onConnection('live')
    const frames = new FrameReader()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return 'again'
      wait = FIRST_WAIT_MS
      const events = frames.push(value).flatMap((frame) => parseEvent(frame.data))
      events.forEach(note)
      if (events.length) listener.onEvents(events)
    }
  }

  const run = async () => {
    while (!stopped()) {
      listener.onConnection('connecting')
      const outcome = await read().catch(() => 'again' as const)
      if (stopped()) return
      if (outcome !== 'again') return listener.onConnection(outcome)
      listener.onConnection('waiting')
      await pause(wait, abort.signal)
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    }
  }
  void run()
  return () => abort.abort()
}

/** Return the event of one frame; what is not one is skipped, as readers must. */
export function parseEvent(data: string): (Event | Reset)[] {
  try {
    const value: unknown = JSON.parse(data)
    const isEvent = typeof value === 'object' && value !== null && 'type' in value
    return isEvent ? [value as Event | Reset] : []
  } catch {
    return []
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
}
