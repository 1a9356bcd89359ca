/** Where one asks: the message, the model, the mode, the thinking switch, and how full the context is. */
import { ArrowUp, Brain, Square } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { permissionModes, type PermissionMode } from '../api/shapes'
import { href } from '../app/route'
import type { Timeline } from '../session/items'
import { cost, tokens } from '../ui/format'
import { useWords } from '../words'

export interface Wish {
  message: string
  model: string
  mode: PermissionMode
  thinking: boolean
}

interface Given {
  sessionId: string
  running: boolean
  models: readonly string[]
  initial: Omit<Wish, 'message'>
  draft: string
  timeline: Timeline
  contextTokens: number | null
  onSend: (wish: Wish) => Promise<boolean>
  onCancel: () => void
  /** The switch belongs to the session, whether something is asked next or not. */
  onThinking: (on: boolean) => void
}

/** What was typed and not sent, by session: it outlives a look at another page. */
const unsent = new Map<string, string>()

export function Composer(given: Given) {
  const t = useWords()
  const place = `${given.sessionId} ${given.draft}`
  const [message, setTyped] = useState(() => unsent.get(place) ?? given.draft)
  const setMessage = (text: string) => {
    unsent.set(place, text)
    setTyped(text)
  }
  const [model, setModel] = useState(given.initial.model)
  const [mode, setMode] = useState(given.initial.mode)
  const [thinking, setThinking] = useState(given.initial.thinking)
  const [sending, setSending] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)

  useEffect(() => {
    const node = area.current
    if (!node) return
    node.style.height = 'auto'
    node.style.height = `${Math.min(node.scrollHeight, 240)}px`
  }, [message])

  const send = () => {
    const text = message.trim()
    if (!text || sending || given.running) return
    setSending(true)
    void given.onSend({ message: text, model, mode, thinking }).then((taken) => {
      setSending(false)
      if (taken) setMessage('')
    })
  }
  const onKey = (event: KeyboardEvent) => {
    // While an input method composes, Enter takes its word.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      send()
    }
  }
  const models = model && !given.models.includes(model) ? [model, ...given.models] : given.models
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={area}
        rows={1}
        value={message}
        autoFocus={window.innerWidth > 720}
        aria-label={t('composer.ask')}
        placeholder={t('composer.ask')}
        onChange={(event) => setMessage(event.target.value)}
        onKeyDown={onKey}
      />
      <div className="composer-row">
        {models.length ? (
          <select className="bare" aria-label={t('composer.model')} value={model} onChange={(event) => setModel(event.target.value)}>
            {models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : null}
        <select
          className="bare"
          aria-label={t('composer.mode')}
          title={t(`mode.${mode}.means`)}
          value={mode}
          onChange={(event) => setMode(event.target.value as PermissionMode)}
        >
          {permissionModes.map((name) => (
            <option key={name} value={name}>
              {t(`mode.${name}`)}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="button quiet small"
          role="switch"
          aria-checked={thinking}
          onClick={() => {
            setThinking(!thinking)
            given.onThinking(!thinking)
          }}
        >
          <Brain aria-hidden className={thinking ? 'on' : ''} />
          <span className="thinking-word">{t(thinking ? 'composer.thinkingOn' : 'composer.thinkingOff')}</span>
        </button>
        <span className="spread" />
        <Fullness timeline={given.timeline} limit={given.contextTokens} sessionId={given.sessionId} />
        {given.running ? (
          <button type="button" className="button small" onClick={given.onCancel}>
            <Square aria-hidden /> {t('composer.stop')}
          </button>
        ) : (
          <button className="button primary icon" disabled={!message.trim() || sending} aria-label={t('composer.send')}>
            <ArrowUp aria-hidden />
          </button>
        )}
      </div>
    </form>
  )
}

/** A ring with its number; it leads to the session's metrics. */
function Fullness({ timeline, limit, sessionId }: { timeline: Timeline; limit: number | null; sessionId: string }) {
  const t = useWords()
  if (!timeline.contextTokens) return null
  const share = limit ? Math.min(1, timeline.contextTokens / limit) : null
  const around = 2 * Math.PI * 6
  const words = [
    share === null ? '' : `${Math.round(share * 100)} %`,
    tokens(timeline.contextTokens),
    timeline.usage.cost_usd === null ? '' : cost(timeline.usage.cost_usd),
  ].filter(Boolean)
  return (
    <a className="fullness number" href={href('metrics', '', { session: sessionId })} title={t('composer.fullness')}>
      {share === null ? null : (
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden>
          <circle cx="8" cy="8" r="6" fill="none" stroke="var(--line)" strokeWidth="2.5" />
          <circle
            cx="8"
            cy="8"
            r="6"
            fill="none"
            stroke={share > 0.85 ? 'var(--caution)' : 'var(--accent)'}
            strokeWidth="2.5"
            strokeDasharray={`${share * around} ${around}`}
            transform="rotate(-90 8 8)"
          />
        </svg>
      )}
      <span>{words[0]}</span>
      <span className="fullness-rest">{words.slice(1).map((word) => ` · ${word}`).join('')}</span>
      <span className="hidden-text">{t('composer.fullness')}</span>
    </a>
  )
}
