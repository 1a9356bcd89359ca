/** All conversations, newest first: search, begin, rename, export, delete. */
import { Ellipsis, MessageSquare, Plus, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { api } from '../api/client'
import type { Session } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, href } from '../app/route'
import { Dialog, Trouble } from '../ui/parts'
import { day } from '../ui/format'
import { modifier } from '../ui/prefs'
import { save } from '../ui/save'
import { useWords } from '../words'
import { withQuery } from '../api/client'

const PAGE = 200
const MOST = 1000

interface Given {
  current: string
  /** Changes when a turn begins or ends. */
  stamp: string
  onChoose: () => void
  /** A session was renamed or deleted. */
  onChanged: () => void
}

export function SessionList({ current, stamp, onChoose, onChanged }: Given) {
  const t = useWords()
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState('')
  const [chosen, setChosen] = useState<Session | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), 200)
    return () => clearTimeout(timer)
  }, [typed])
  const [most, setMost] = useState(PAGE)
  const path = withQuery('/sessions', { q: asked, limit: most })
  const { data: loaded, error, reload } = useLoaded<{ sessions: Session[]; next_cursor: string | null }>(path, 15_000)
  const [last, setLast] = useState(loaded)
  if (loaded && loaded !== last) setLast(loaded)
  const data = loaded ?? last // what was there stays while more of it comes
  // A turn that began or ended shows in the list at once.
  const first = useRef(true)
  useEffect(() => {
    if (!first.current) reload()
    first.current = false
  }, [stamp, reload])
  const days = byDay(data?.sessions ?? [], t('sessions.today'), t('sessions.yesterday'))
  return (
    <nav className="sessions" aria-label={t('sessions.title')}>
      <a className="button new-session" href={href('research', '', { fresh: '1' })} onClick={onChoose}>
        <Plus aria-hidden /> {t('sessions.new')} <span className="spread" />
        <span className="keycap">{modifier}K</span>
      </a>
      <label className="search-field">
        <Search aria-hidden />
        <span className="hidden-text">{t('sessions.search')}</span>
        <input type="search" value={typed} placeholder={t('sessions.search')} onChange={(event) => setTyped(event.target.value)} />
      </label>
      {error ? <Trouble error={error} onRetry={reload} /> : null}
      {days.map(([name, sessions]) => (
        <section key={name}>
          <h2 className="tiny muted">{name}</h2>
          <ul>
            {sessions.map((session) => (
              <li key={session.id} className="session" aria-current={session.id === current ? 'page' : undefined}>
                <a href={href('research', session.id)} onClick={onChoose}>
                  {session.status === 'running' ? (
                    <span className="running-dot" role="img" aria-label={t('state.running')} />
                  ) : (
                    <MessageSquare aria-hidden />
                  )}
                  <span className="clip">{session.title || t('sessions.untitled')}</span>
                </a>
                <button
                  className="button quiet icon"
                  aria-label={t('sessions.more', { title: session.title })}
                  onClick={() => setChosen(session)}
                >
                  <Ellipsis aria-hidden />
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {data?.next_cursor && most < MOST ? (
        <button className="button quiet small" onClick={() => setMost(most + PAGE)}>
          {t('sessions.older')}
        </button>
      ) : null}
      {data && !data.sessions.length ? <p className="muted tiny">{t(asked ? 'sessions.noneFound' : 'sessions.none')}</p> : null}
      {chosen ? (
        <SessionActs
          session={chosen}
          current={current}
          onClose={() => {
            setChosen(null)
            reload()
            onChanged()
          }}
        />
      ) : null}
    </nav>
  )
}

function byDay(sessions: readonly Session[], today: string, yesterday: string): [string, Session[]][] {
  const now = day(new Date().toISOString())
  const before = day(new Date(Date.now() - 86_400_000).toISOString())
  const groups = new Map<string, Session[]>()
  for (const session of sessions) {
    const date = day(session.created_at)
    const name = date === now ? today : date === before ? yesterday : date
    groups.set(name, [...(groups.get(name) ?? []), session])
  }
  return [...groups]
}

function SessionActs({ session, current, onClose }: { session: Session; current: string; onClose: () => void }) {
  const t = useWords()
  const [title, setTitle] = useState(session.title)
  const [sure, setSure] = useState(false)
  const [trouble, setTrouble] = useState('')
  const path = `/sessions/${encodeURIComponent(session.id)}`
  const act = (work: Promise<unknown>, then: () => void) => {
    work.then(then, (error: unknown) => setTrouble(asApiError(error).message))
  }
  const exported = (ending: 'md' | 'json') =>
    act(
      ending === 'md'
        ? api.text(`${path}/export`).then((text) => save(`${session.id}.md`, text))
        : api.get<unknown>(`${path}/messages`).then((messages) => save(`${session.id}.json`, JSON.stringify(messages, null, 2))),
      () => undefined,
    )
  return (
    <Dialog title={session.title || t('sessions.untitled')} onClose={onClose}>
      <form
        className="row session-acts"
        onSubmit={(event) => {
          event.preventDefault()
          act(api.patch(path, { title }), onClose)
        }}
      >
        <input className="field spread" aria-label={t('sessions.rename')} value={title} onChange={(event) => setTitle(event.target.value)} />
        <button className="button primary" disabled={!title.trim()}>
          {t('sessions.rename')}
        </button>
      </form>
      <div className="row wrap session-acts">
        <button className="button" onClick={() => exported('md')}>
          {t('sessions.export', { format: 'Markdown' })}
        </button>
        <button className="button" onClick={() => exported('json')}>
          {t('sessions.export', { format: 'JSON' })}
        </button>
        <a className="button" href={href('research', session.id, { replay: '1' })} onClick={onClose}>
          {t('sessions.replay')}
        </a>
        <a className="button" href={href('metrics', '', { session: session.id })} onClick={onClose}>
          {t('nav.metrics')}
        </a>
        <a className="button" href={href('audit', '', { session: session.id })} onClick={onClose}>
          {t('nav.audit')}
        </a>
        <span className="spread" />
        <button
          className="button bad"
          onClick={() => {
            if (!sure) return setSure(true)
            act(api.delete(path), () => {
              onClose()
              if (session.id === current) go(href('research'))
            })
          }}
        >
          {t(sure ? 'sessions.deleteSure' : 'sessions.delete')}
        </button>
      </div>
      {trouble ? <p className="bad">{trouble}</p> : null}
    </Dialog>
  )
}
