/** Step through a session's events as they came. */
import { ChevronLeft, ChevronRight, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { go, href } from '../app/route'
import type { EventLog } from '../session/log'
import type { Timeline } from '../session/items'
import { foldAll } from '../session/timeline'
import { IconButton } from '../ui/parts'
import { clock } from '../ui/format'
import { useWords } from '../words'

export function useReplay(log: EventLog, active: boolean): { timeline: Timeline; at?: number; bar: React.ReactNode } {
  const [place, setPlace] = useState(1)
  const shown = Math.min(place, log.events.length)
  const timeline = useMemo(
    () => (active ? foldAll(log.events.slice(0, shown)) : log.timeline),
    [active, log, shown],
  )
  const time = log.events[shown - 1]?.time
  if (!active) return { timeline, bar: null }
  return { timeline, ...(time ? { at: Date.parse(time) } : {}), bar: <ReplayBar log={log} place={shown} onPlace={setPlace} /> }
}

function ReplayBar({ log, place, onPlace }: { log: EventLog; place: number; onPlace: (place: number) => void }) {
  const t = useWords()
  const event = log.events[place - 1]
  const to = (next: number) => onPlace(Math.max(1, Math.min(log.events.length, next)))
  return (
    <div className="replay row">
      <IconButton icon={ChevronLeft} label={t('replay.back')} onClick={() => to(place - 1)} />
      <input
        type="range"
        className="spread"
        min={1}
        max={Math.max(1, log.events.length)}
        value={place}
        aria-label={t('replay.place')}
        onChange={(change) => to(Number(change.target.value))}
      />
      <IconButton icon={ChevronRight} label={t('replay.on')} onClick={() => to(place + 1)} />
      <span className="mono tiny muted">
        {place}/{log.events.length} {event ? `${event.type} ${clock(event.time)}` : ''}
      </span>
      <IconButton icon={X} label={t('common.close')} onClick={() => go(href('research', event?.session_id ?? ''))} />
    </div>
  )
}
