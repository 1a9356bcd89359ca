/** A session's events in their order, with the timeline that they fold to. */
import type { Event } from '../api/events'
import type { Reset } from '../api/stream'
import type { Timeline } from './items'
import { emptyTimeline, fold, foldAll } from './timeline'

export interface EventLog {
  events: readonly Event[]
  timeline: Timeline
}

export const emptyLog: EventLog = { events: [], timeline: emptyTimeline }

/**
 * Take events in, in whatever order and however often they come. In order (the usual case) each
 * costs one fold; one that comes late is put into its place and the rest is folded again.
 */
export function receive(log: EventLog, incoming: readonly (Event | Reset)[]): EventLog {
  const events = [...log.events]
  let timeline = log.timeline
  let inOrder = true
  for (const event of incoming) {
    if (event.type === 'reset') {
      events.splice(events.findLastIndex((known) => known.seq < event.from_seq) + 1)
      inOrder = false
      continue
    }
    const before = events.findLastIndex((known) => known.seq <= event.seq)
    if (events[before]?.seq === event.seq) continue
    if (before === events.length - 1) {
      events.push(event)
      if (inOrder) timeline = fold(timeline, event)
    } else {
      events.splice(before + 1, 0, event)
      inOrder = false
    }
  }
  if (inOrder && events.length === log.events.length) return log
  return { events, timeline: inOrder ? timeline : foldAll(events) }
}
