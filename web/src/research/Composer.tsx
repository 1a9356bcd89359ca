/** Where one asks: the message, the model, the mode, the thinking switch, and how full the context is. */
import { ArrowUp, Brain, Square } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { permissionModes, type PermissionMode } from '../api/shapes'
import { href } from '../app/route'
import type { Timeline } from '../session/items'
import { cost, tokens, whole } from '../ui/format'
import { useUnsent } from '../ui/unsent'
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

/** The longest question that the server takes. */
const MOST_CHARACTERS = 32_000

type Choice = Omit<Wish, 'message'>

/** What was chosen for the next question and not sent with one yet. */
function chosen(text: string): Partial<Choice> {
  return text ? (JSON.parse(text) as Partial<Choice>) : {}
}

export function Composer(given: Given) {
  const t = useWords()
  const place = `${given.sessionId} ${given.draft}`
  const [message, setMessage] = useUnsent(`message ${place}`, given.draft)
  const [choice, setChoice] = useUnsent(`choice ${given.sessionId}`)
  const { model, mode, thinking } = { ...given.initial, ...chosen(choice) }
  const choose = (change: Partial<Choice>) => setChoice(JSON.stringify({ ...chosen(choice), ...change }))
  const [sending, setSending] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)

  useEffect(() => {
    const node = area.current
    if (!node) return
    node.style.height = 'auto'
    node.style.height = `${Math.min(node.scrollHeight, 240)}px`
  }, [message])

  const length = message.length > MOST_CHARACTERS ? Array.from(message.trim()).length : 0
  const tooLong = length > MOST_CHARACTERS
  const send = () => {
    const text = message.trim()
    if (!text || sending || given.running || tooLong) return
    setSending(true)
    void given.onSend({ message: text, model, mode, thinking }).then((taken) => {
      setSending(false)
      if (!taken) return
      setMessage('')
      setChoice('')
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
      {tooLong ? (
        <p className="bad tiny" role="alert">
          {t('composer.tooLong', { n: whole(length), most: whole(MOST_CHARACTERS) })}
        </p>
      ) : null}
      <div className="composer-row">
        {models.length ? (
          <select className="bare" aria-label={t('composer.model')} value={model} onChange={(event) => choose({ model: event.target.value })}>
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
          onChange={(event) => choose({ mode: event.target.value as PermissionMode })}
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
            choose({ thinking: !thinking })
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
          <button className="button primary icon" disabled={!message.trim() || sending || tooLong} aria-label={t('composer.send')}>
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
