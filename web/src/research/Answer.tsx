/** The answer: its text, its citations as raised numbers, and what no quote carries. */
import { BookOpen, Check, Copy, TriangleAlert } from 'lucide-react'
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import type { AnswerEvent, Citation } from '../api/events'
import { href } from '../app/route'
import { Markdown } from '../markdown/Markdown'
import type { Mark } from '../markdown/marks'
import { IconButton } from '../ui/parts'
import { useWords } from '../words'
import { QuoteCard } from './QuoteCard'

export function readerLink(citation: Citation, sessionId: string): string {
  const { page, anchor, quote } = citation
  return href('reader', citation.paper_id, { page, anchor, quote: quote.slice(0, 1200), back: sessionId })
}

export function Answer({ answer }: { answer: AnswerEvent }) {
  const t = useWords()
  const byKey = useMemo(() => new Map(answer.citations.map((one) => [one.key, one])), [answer])
  const keys = useMemo(() => [...byKey.keys()], [byKey])
  const marks = useMemo(
    () => answer.unsupported.map((one, place): Mark => ({ id: String(place), kind: 'unsupported', text: one.sentence })),
    [answer],
  )
  const citation = useCallback(
    (key: string) => {
      const one = byKey.get(key)
      return one ? <CiteMark citation={one} sessionId={answer.session_id} /> : <sup>{key}</sup>
    },
    [byKey, answer.session_id],
  )
  const mark = useCallback(
    (id: string, _kind: string, ends: boolean, children: ReactNode) => {
      const reason = answer.unsupported[Number(id)]?.reason ?? ''
      return (
        <mark data-kind="unsupported" title={t('answer.unsupported', { reason })}>
          {children}
          {ends ? (
            <span className="unsupported-sign">
              <TriangleAlert aria-hidden />
              <span className="hidden-text">({t('answer.unsupported', { reason })})</span>
            </span>
          ) : null}
        </mark>
      )
    },
    [answer, t],
  )
  return (
    <article className="answer" aria-label={t('answer.title')}>
      {answer.answered ? null : (
        <p className="row no-evidence">
          <TriangleAlert aria-hidden /> {t('answer.none')}
        </p>
      )}
      <Markdown text={answer.text} citationKeys={keys} citation={citation} marks={marks} mark={mark} />
      <Foot answer={answer} />
    </article>
  )
}

/** Where the card begins beside its number, in pixels, while there is room. */
const FAR_LEFT = -40

function CiteMark({ citation, sessionId }: { citation: Citation; sessionId: string }) {
  const [place, setPlace] = useState({ left: FAR_LEFT, above: false })
  const card = useRef<HTMLSpanElement>(null)
  // The card stays inside the column, above the line where there is no room below.
  const settle = (mark: HTMLElement) => {
    const column = mark.closest('.timeline')?.getBoundingClientRect()
    if (!column || !card.current) return
    const box = mark.getBoundingClientRect()
    const { offsetWidth: width, offsetHeight: height } = card.current
    const left = Math.max(column.left + 8 - box.left, Math.min(FAR_LEFT, column.right - 20 - width - box.left))
    setPlace({ left, above: box.bottom + height + 8 > column.bottom && box.top - height > column.top })
  }
  return (
    <span className="cite" onMouseEnter={(event) => settle(event.currentTarget)} onFocus={(event) => settle(event.currentTarget)}>
      <a href={readerLink(citation, sessionId)} className="cite-mark">
        {citation.key}
      </a>
      <span className="cite-card" role="note" ref={card} data-above={place.above} style={{ left: place.left }}>
        <QuoteCard citation={citation} />
      </span>
    </span>
  )
}

function Foot({ answer }: { answer: AnswerEvent }) {
  const t = useWords()
  const { unsupported, searched } = answer
  const pages = Object.values(searched.pages).reduce((sum, list) => sum + list.length, 0)
  return (
    <footer className="answer-foot">
      <div className="row">
        <CopyAnswer text={answer.text} />
        {answer.degraded.map((word) => (
          <span key={word} className="tiny muted">
            {word}
          </span>
        ))}
      </div>
      {unsupported.length ? (
        <details>
          <summary className="tiny caution">{t('answer.unsupportedCount', { n: unsupported.length })}</summary>
          <ul className="unsupported-list">
            {unsupported.map((one) => (
              <li key={one.sentence}>
                “{one.sentence}” <span className="muted tiny">{one.reason}</span>
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      {answer.dropped_quotes ? <p className="tiny muted">{t('answer.dropped', { n: answer.dropped_quotes })}</p> : null}
      {searched.papers_in_library ? (
        <details>
          <summary className="tiny muted row">
            <BookOpen aria-hidden /> {t('answer.searched', { n: searched.papers.length, all: searched.papers_in_library })}
          </summary>
          <ul className="tiny muted">
            {searched.queries.length ? <li>{searched.queries.join(' · ')}</li> : null}
            <li>{t('answer.looked', { passages: searched.passages, pages })}</li>
            {searched.unreadable.map((one) => (
              <li key={one} className="caution">
                {one}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </footer>
  )
}

function CopyAnswer({ text }: { text: string }) {
  const t = useWords()
  const [copied, setCopied] = useState(false)
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true))
  return <IconButton icon={copied ? Check : Copy} label={t(copied ? 'common.copied' : 'answer.copy')} onClick={copy} />
}
