/** The one line that a turn's work folds to: what happens now, or what it came to. */
import { ChevronRight } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Turn } from '../session/items'
import { countWork, current, waitingIn } from '../session/rows'
import { duration, since } from '../ui/format'
import { type Translate, useWords } from '../words'
import { toolSubject, toolWords } from './toolWords'

interface Given {
  turn: Turn
  open: boolean
  onToggle: () => void
  /** The time that a replay stands at; live, it is the clock's. */
  at?: number | undefined
}

export function WorkLine({ turn, open, onToggle, at }: Given) {
  const t = useWords()
  const running = turn.status === 'running'
  const clock = useClock(running && at === undefined)
  const now = at ?? clock
  const took = duration(since(turn.startedAt, running ? now : turn.endedAt))
  return (
    <div className="work-line">
      <button className="row" aria-expanded={open} onClick={onToggle}>
        <ChevronRight aria-hidden className="turns" />
        {running ? (
          <>
            <span className="clip live">{happening(turn, t)}</span>
            <span className="muted number">{took}</span>
          </>
        ) : (
          <span className="muted clip">{summary(turn, took, t)}</span>
        )}
      </button>
      {running ? <div className="running-line" /> : null}
    </div>
  )
}

function useClock(ticking: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [ticking])
  return now
}

function happening(turn: Turn, t: Translate): string {
  const waits = waitingIn(turn.items, turn)[0]
  if (waits) return t(waits.kind === 'permission' ? 'work.waitsPermission' : 'work.waitsAnswer')
  const item = current(turn.items)
  switch (item?.kind) {
    case 'tool': {
      if (item.state !== 'running') return t('work.thinks')
      const subject = item.progress || toolSubject(item)
      return subject ? `${toolWords(item, t)} · ${subject}` : toolWords(item, t)
    }
    case 'subagent':
      return t('work.subagent', { name: item.name })
    case 'text':
      return t('work.writes')
    default:
      return t('work.thinks')
  }
}

function summary(turn: Turn, took: string, t: Translate): string {
  const { tools, failed, papers } = countWork(turn.items)
  return [
    t('work.took', { time: took }),
    tools ? t('work.tools', { n: tools }) : '',
    failed ? t('work.failed', { n: failed }) : '',
    papers ? t('work.papers', { n: papers }) : '',
  ]
    .filter(Boolean)
    .join(' · ')
}
