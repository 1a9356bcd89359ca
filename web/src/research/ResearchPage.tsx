/** Sessions, the timeline with its composer, and the evidence of the answer. */
import { ListTodo, PanelLeft, PanelRight, Rows2, Rows3, Rows4, TriangleAlert } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { api } from '../api/client'
import type { ServerSettings, Session } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, href, type Route } from '../app/route'
import { allWaiting, type Detail } from '../session/rows'
import { useSession } from '../session/useSession'
import { Empty, IconButton, Trouble } from '../ui/parts'
import { remember, remembered } from '../ui/prefs'
import { useWords } from '../words'
import { TodoList } from './cards/TodoList'
import { Composer, type Wish } from './Composer'
import { Evidence } from './Evidence'
import { useReplay } from './Replay'
import { SessionList } from './SessionList'
import { type TimelineControl, TimelineView } from './TimelineView'
import './research.css'

const details: readonly Detail[] = ['quiet', 'normal', 'full']
const detailIcons = { quiet: Rows2, normal: Rows3, full: Rows4 }
const DETAIL = 'nuncius.detail'

export function ResearchPage({ route }: { route: Route }) {
  const t = useWords()
  const id = route.id
  const { log, connection } = useSession(id)
  const session = useLoaded<Session>(id ? `/sessions/${encodeURIComponent(id)}` : null)
  const settings = useLoaded<ServerSettings>('/settings')
  const [detail, setDetail] = useState<Detail>(() => remembered<Detail>(DETAIL, 'normal'))
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const [shown, setShown] = useState<'sessions' | 'evidence' | ''>('')
  const [plan, setPlan] = useState(false)
  const control = useRef<TimelineControl>(null)
  const { timeline, bar, at } = useReplay(log, route.query.has('replay'))

  const last = timeline.turns.findLast((turn) => turn.id)
  const running = last?.status === 'running'
  const waiting = useMemo(() => allWaiting(timeline), [timeline])
  const answer = useMemo(() => timeline.turns.findLast((turn) => turn.answer)?.answer ?? null, [timeline])
  const title = session.data?.title ?? last?.message ?? ''

  // The server gives a session its title when its first turn begins.
  const { reload } = session
  const state = `${last?.id ?? ''} ${last?.status ?? ''}`
  useEffect(reload, [state, reload])
  useEffect(() => setTrouble(null), [state])
  useWaitingFocus(waiting.map((one) => one.id).join(), control, route.query.has('replay'))

  const send = async (wish: Wish): Promise<boolean> => {
    setTrouble(null)
    let made = ''
    try {
      if (!id) made = (await api.post<Session>('/sessions', {})).id
      const target = id || made
      const body = {
        message: wish.message,
        mode: wish.mode,
        enable_thinking: wish.thinking,
        ...(wish.model ? { model: wish.model } : {}),
      }
      await api.post(`/sessions/${encodeURIComponent(target)}/turns`, body)
      if (!id) go(href('research', target))
      return true
    } catch (error) {
      setTrouble(asApiError(error))
      // A session whose first question was refused is nothing that anybody wants to see.
      if (made) api.delete(`/sessions/${encodeURIComponent(made)}`).catch(() => undefined)
      return false
    }
  }
  const cancel = () => {
    api.post(`/sessions/${encodeURIComponent(id)}/cancel`).catch((error: unknown) => setTrouble(asApiError(error)))
  }
  const keepThinking = (on: boolean) => {
    if (!id) return // it goes along with the first question
    api.patch(`/sessions/${encodeURIComponent(id)}`, { enable_thinking: on }).catch((error: unknown) => setTrouble(asApiError(error)))
  }
  const nextDetail = () => {
    const next = details[(details.indexOf(detail) + 1) % details.length] ?? 'normal'
    setDetail(next)
    remember(DETAIL, next)
  }
  const toggle = (name: 'sessions' | 'evidence') => setShown(shown === name ? '' : name)
  const initial = {
    model: last?.model || session.data?.model || settings.data?.model || '',
    mode: last?.mode || session.data?.mode || settings.data?.mode || 'ask',
    thinking: session.data?.enable_thinking ?? last?.thinking ?? settings.data?.enable_thinking ?? false,
  } as const
  const ready = !id || timeline.turns.length > 0 || session.data !== undefined || session.error !== undefined

  return (
    <div className="research" data-shown={shown} onKeyDown={(event) => event.key === 'Escape' && setShown('')}>
      <SessionList current={id} stamp={state} onChanged={reload} onChoose={() => setShown('')} />
      <main className="middle">
        <header className="bar">
          <IconButton icon={PanelLeft} label={t('sessions.title')} className="narrow-only" onClick={() => toggle('sessions')} pressed={shown === 'sessions'} />
          <h1 className="clip spread">{id ? title || t('sessions.untitled') : t('sessions.new')}</h1>
          {id && connection !== 'live' && connection !== 'connecting' ? (
            <span className="tiny caution row" role="status">
              <TriangleAlert aria-hidden /> {t(`connection.${connection}`)}
            </span>
          ) : null}
          {waiting.length ? (
            <button className="button small waits" onClick={() => control.current?.toWaiting()}>
              {t('research.waiting', { n: waiting.length })}
            </button>
          ) : null}
          {timeline.todos.length ? <IconButton icon={ListTodo} label={t('item.plan')} pressed={plan} onClick={() => setPlan(!plan)} /> : null}
          <IconButton icon={detailIcons[detail]} label={`${t('detail.title')}: ${t(`detail.${detail}`)}`} onClick={nextDetail} />
          <IconButton icon={PanelRight} label={t('evidence.title')} className="narrow-only" onClick={() => toggle('evidence')} pressed={shown === 'evidence'} />
        </header>
        {plan && timeline.todos.length ? (
          <div className="plan">
            <TodoList todos={timeline.todos} />
          </div>
        ) : null}
        {id && session.error?.status === 404 ? <Trouble error={session.error} /> : null}
        {id ? <TimelineView key={id} timeline={timeline} detail={detail} control={control} at={at} call={route.query.get('call') ?? ''} /> : <Welcome />}
        {trouble ? <Trouble error={trouble} /> : null}
        {bar}
        {ready && !bar ? (
          <Composer
            key={`${id}-${settings.data ? 's' : ''}${session.data ? 'd' : ''}`}
            sessionId={id}
            running={running}
            models={settings.data?.models ?? []}
            initial={initial}
            draft={route.query.get('draft') ?? ''}
            timeline={timeline}
            contextTokens={settings.data?.context_tokens ?? null}
            onSend={send}
            onCancel={cancel}
            onThinking={keepThinking}
          />
        ) : null}
      </main>
      <Evidence answer={answer} />
      {shown ? <button className="veil" aria-label={t('common.close')} onClick={() => setShown('')} /> : null}
    </div>
  )
}

/** Who is about to type nothing gets the card that waits; when none does any more, the composer. */
function useWaitingFocus(ids: string, control: React.RefObject<TimelineControl | null>, replaying: boolean): void {
  const last = useRef('')
  useEffect(() => {
    if (last.current === ids || replaying) return
    const before = last.current
    last.current = ids
    const active = document.activeElement
    const typing = active instanceof HTMLTextAreaElement && active.value !== ''
    const idle = active === document.body || (active instanceof HTMLTextAreaElement && active.closest('.composer') !== null && !typing)
    if (!idle) return
    if (ids) control.current?.toWaiting()
    else if (before) document.querySelector<HTMLElement>('.composer textarea')?.focus()
  }, [ids, control, replaying])
}

function Welcome() {
  const t = useWords()
  return (
    <div className="timeline">
      <Empty title={t('research.welcome')} example={t('research.example')}>
        <p>{t('research.teaches')}</p>
        <p>
          <a href={href('library')}>{t('research.addFirst')}</a>
        </p>
      </Empty>
    </div>
  )
}
