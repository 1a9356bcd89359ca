/** A permission request: what wants to run, whole, and the scopes of a yes. */
import { ShieldQuestionMark } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/client'
import { asApiError } from '../api/useLoaded'
import type { PermissionItem } from '../session/items'
import { revealed } from '../ui/format'
import { useUnsent } from '../ui/unsent'
import { useWords } from '../words'
import { ArgumentList } from './cards/ArgumentList'
import { DiffCard } from './cards/DiffCard'
import './waiting.css'

type Request = Pick<PermissionItem, 'id' | 'tool' | 'arguments' | 'argsSha256' | 'reason' | 'rule' | 'agent'>

export function PermissionCard({ request, onLater }: { request: Request; onLater?: () => void }) {
  const t = useWords()
  const [comment, setComment] = useUnsent(`comment ${request.id}`)
  const [sending, setSending] = useState(false)
  const [trouble, setTrouble] = useState('')
  const [later, setLater] = useUnsent(`later ${request.id}`)

  const decide = (decision: 'allow' | 'deny', scope: 'once' | 'session' | 'always') => {
    if (sending) return
    setSending(true)
    setTrouble('')
    const words = comment.trim()
    const body = { decision, scope, args_sha256: request.argsSha256, ...(words ? { comment: words } : {}) }
    // The card stays until the event of the decision comes: only that says it was taken.
    api.post(`/permissions/requests/${encodeURIComponent(request.id)}`, body).catch((error: unknown) => {
      setSending(false)
      setTrouble([asApiError(error).message, asApiError(error).hint].join(' ').trim())
    })
  }

  const onKey = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return
    const key = event.key.toLowerCase()
    if (key === 'a') decide('allow', 'once')
    else if (key === 's') decide('allow', 'session')
    else if (key === 'd') decide('deny', 'once')
    else if (key === 'escape') {
      setLater('yes')
      onLater?.()
    } else return
    event.preventDefault()
  }

  if (later) {
    return (
      <button className="waiting-later row" data-waiting={request.id} onClick={() => setLater('')}>
        <ShieldQuestionMark aria-hidden /> {t('permission.later', { tool: request.tool })}
      </button>
    )
  }
  return (
    <section className="waiting" data-waiting={request.id} tabIndex={0} onKeyDown={onKey} aria-label={t('permission.title')}>
      <header className="row">
        <ShieldQuestionMark aria-hidden />
        <h2 className="spread">
          {t('permission.asks', { tool: revealed(request.tool) })}
          {request.agent === 'main' ? null : <span className="muted"> · {request.agent}</span>}
        </h2>
      </header>
      {request.reason ? <p>{revealed(request.reason)}</p> : null}
      <Wanted request={request} />
      {request.rule ? (
        <p className="tiny muted">
          {t('permission.rule')} <code className="mono">{revealed(request.rule)}</code>
        </p>
      ) : null}
      <textarea
        className="field"
        rows={1}
        value={comment}
        aria-label={t('permission.comment')}
        placeholder={t('permission.comment')}
        onChange={(event) => setComment(event.target.value)}
      />
      {trouble ? (
        <p className="bad" role="alert">
          {trouble}
        </p>
      ) : null}
      <div className="row wrap">
        <button className="button primary" disabled={sending} onClick={() => decide('allow', 'once')}>
          {t('permission.once')} <span className="keycap">A</span>
        </button>
        <button className="button" disabled={sending} onClick={() => decide('allow', 'session')}>
          {t('permission.session')} <span className="keycap">S</span>
        </button>
        <button className="button" disabled={sending || !request.rule} onClick={() => decide('allow', 'always')}>
          {t('permission.always')}
        </button>
        <span className="spread" />
        <button className="button deny" disabled={sending} onClick={() => decide('deny', 'once')}>
          {t('permission.deny')} <span className="keycap">D</span>
        </button>
      </div>
    </section>
  )
}

/** An edit as its difference, a command as a command, all else as its arguments; nothing is left out. */
function Wanted({ request }: { request: Request }) {
  const t = useWords()
  const { tool, arguments: given } = request
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : '')
  const without = (...names: string[]) => Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)))
  if (tool === 'run_bash') {
    return (
      <>
        <pre className="terminal" tabIndex={0} aria-label={t('card.command')}>
          <span className="prompt" aria-hidden>
            ${' '}
          </span>
          {revealed(text('command'))}
        </pre>
        <ArgumentList given={without('command')} />
      </>
    )
  }
  if (tool === 'file_edit') {
    return (
      <>
        <DiffCard path={text('path')} before={text('old_string')} after={text('new_string')} />
        <ArgumentList given={without('path', 'old_string', 'new_string')} />
      </>
    )
  }
  if (tool === 'file_write') {
    return (
      <>
        <DiffCard path={text('path')} before="" after={text('content')} />
        <ArgumentList given={without('path', 'content')} />
      </>
    )
  }
  return <ArgumentList given={given} />
}
