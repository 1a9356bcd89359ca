/** A question of the agent: options, free text, a countdown; it can be answered later, too. */
import { MessageCircleQuestionMark } from 'lucide-react'
import { type KeyboardEvent, type SyntheticEvent, useEffect, useState } from 'react'
import { api } from '../api/client'
import { asApiError } from '../api/useLoaded'
import type { QuestionItem } from '../session/items'
import { duration } from '../ui/format'
import { useUnsent } from '../ui/unsent'
import { useWords } from '../words'
import './waiting.css'

type Asked = Pick<QuestionItem, 'id' | 'question' | 'options' | 'expiresAt'>

export function QuestionCard({ asked }: { asked: Asked }) {
  const t = useWords()
  const [text, setText] = useUnsent(`answer ${asked.id}`)
  const [sending, setSending] = useState(false)
  const [trouble, setTrouble] = useState('')
  const left = useCountdown(asked.expiresAt)

  const send = (body: { answer: string } | { declined: true }) => {
    setSending(true)
    setTrouble('')
    api.post(`/questions/${encodeURIComponent(asked.id)}`, body).catch((error: unknown) => {
      setSending(false)
      setTrouble([asApiError(error).message, asApiError(error).hint].join(' ').trim())
    })
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (text.trim()) send({ answer: text.trim() })
  }

  const onKey = (event: KeyboardEvent) => {
    const option = asked.options[Number(event.key) - 1]
    if (sending || option === undefined || event.target instanceof HTMLInputElement) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    send({ answer: option })
  }

  return (
    <section className="waiting" data-waiting={asked.id} tabIndex={0} onKeyDown={onKey} aria-label={t('question.title')}>
      <header className="row">
        <MessageCircleQuestionMark aria-hidden />
        <h2 className="spread">{t('question.title')}</h2>
        {left === null ? null : (
          <span className="muted tiny number">{left > 0 ? t('question.left', { time: duration(left) }) : t('question.late')}</span>
        )}
      </header>
      <p className="asked">{asked.question}</p>
      {asked.options.length ? (
        <div className="options">
          {asked.options.map((option, place) => (
            <button key={option} className="button" disabled={sending} onClick={() => send({ answer: option })}>
              <span className="keycap">{place + 1}</span> {option}
            </button>
          ))}
        </div>
      ) : null}
      <form className="row" onSubmit={submit}>
        <input
          className="field spread"
          value={text}
          aria-label={t('question.own')}
          placeholder={t('question.own')}
          onChange={(event) => setText(event.target.value)}
        />
        <button className="button primary" disabled={sending || !text.trim()}>
          {t('question.send')}
        </button>
        <button type="button" className="button quiet" disabled={sending} onClick={() => send({ declined: true })}>
          {t('question.decline')}
        </button>
      </form>
      {trouble ? (
        <p className="bad" role="alert">
          {trouble}
        </p>
      ) : null}
    </section>
  )
}

/** Milliseconds until then, by whole seconds; null where there is no end. */
function useCountdown(expiresAt: string): number | null {
  const end = Date.parse(expiresAt)
  const [now, setNow] = useState(() => Date.now())
  const over = Number.isNaN(end) || end <= now
  useEffect(() => {
    if (over) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [over])
  return Number.isNaN(end) ? null : Math.max(0, Math.round((end - now) / 1000) * 1000)
}
