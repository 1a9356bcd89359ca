/** The column beside an answer: each quote that carries it, and the papers they are from. */
import { useState } from 'react'
import type { AnswerEvent, Citation } from '../api/events'
import { api } from '../api/client'
import { asApiError } from '../api/useLoaded'
import { href } from '../app/route'
import { bibtexOf } from '../library/bibtex'
import { PlainTitle } from '../ui/PlainTitle'
import { save } from '../ui/save'
import { shortReference } from '../ui/format'
import { useWords } from '../words'
import { readerLink } from './Answer'
import { QuoteCard } from './QuoteCard'

export function Evidence({ answer }: { answer: AnswerEvent | null }) {
  const t = useWords()
  const citations = answer?.citations ?? []
  return (
    <aside className="evidence" aria-label={t('evidence.title')}>
      <h2>
        {t('evidence.title')} {citations.length ? <span className="muted number">{citations.length}</span> : null}
      </h2>
      {citations.length ? null : <p className="muted">{t('evidence.none')}</p>}
      <ul className="quotes">
        {citations.map((citation) => (
          <li key={citation.key}>
            <a href={readerLink(citation, answer?.session_id ?? '')}>
              <QuoteCard citation={citation} number />
            </a>
          </li>
        ))}
      </ul>
      {citations.length ? <Papers citations={citations} /> : null}
    </aside>
  )
}

function Papers({ citations }: { citations: readonly Citation[] }) {
  const t = useWords()
  const [trouble, setTrouble] = useState('')
  const papers = [...new Map(citations.map((one) => [one.paper_id, one])).values()]
  const exportAll = () => {
    const ids = papers.map((paper) => paper.paper_id)
    api.text(`/papers/export?format=bibtex&ids=${ids.join(',')}`).then(
      (text) => save('answer.bib', text),
      (error: unknown) => {
        // A server without the route: what the citations themselves know is enough for an entry.
        if (asApiError(error).status === 404) save('answer.bib', bibtexOf(papers))
        else setTrouble(asApiError(error).message)
      },
    )
  }
  return (
    <section className="answer-papers">
      <h2>{t('evidence.papers')}</h2>
      <ul>
        {papers.map((paper) => (
          <li key={paper.paper_id}>
            <a href={href('reader', paper.paper_id)}>
              <PlainTitle text={paper.title} />
            </a>
            <span className="tiny muted">{shortReference(paper.authors, paper.year)}</span>
          </li>
        ))}
      </ul>
      <button className="button small" onClick={exportAll}>
        BibTeX
      </button>
      {trouble ? <p className="bad tiny">{trouble}</p> : null}
    </section>
  )
}
