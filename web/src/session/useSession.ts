/** A session as it happens: its events folded, its line to the server. */
import { useEffect, useState } from 'react'
import type { Event } from '../api/events'
import { type Connection, follow, type Reset } from '../api/stream'
import { emptyLog, type EventLog, receive } from './log'

export interface Live {
  log: EventLog
  connection: Connection
}

/** Sessions read before: going back to one shows it at once and asks for the rest only. */
const kept = new Map<string, EventLog>()
const MOST_KEPT = 8

function keep(id: string, log: EventLog): void {
  kept.delete(id)
  kept.set(id, log)
  const oldest = kept.keys().next().value
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
}

export function useSession(id: string): Live {
  const [state, setState] = useState<Live & { id: string }>({ id: '', log: emptyLog, connection: 'connecting' })

  useEffect(() => {
    if (!id) return
    let log = kept.get(id) ?? emptyLog
    let waiting: (Event | Reset)[] = []
    let drawing = 0
    setState({ id, log, connection: 'connecting' })
    const draw = () => {
      drawing = 0
      log = receive(log, waiting)
      waiting = []
      keep(id, log)
      setState((last) => (last.id === id ? { ...last, log } : last))
    }
    const stop = follow(id, log.timeline.seq, {
      // One drawing for all that came since the last: a fast model must not cost a frame a word.
      onEvents: (events) => {
        waiting.push(...events)
        drawing ||= window.setTimeout(draw, document.hidden ? 250 : 40)
      },
      onConnection: (connection) => setState((last) => (last.id === id ? { ...last, connection } : last)),
    })
    return () => {
      clearTimeout(drawing)
      stop()
    }
  }, [id])

  return state.id === id ? state : { log: emptyLog, connection: 'connecting' }
}
