/** What a paper cites: cards beside the text, and the same card at each place that cites one. */
import { Check, Plus } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { api } from '../api/client'
import type { Reference } from '../api/shapes'
import { asApiError } from '../api/useLoaded'
import { href } from '../app/route'
import { OutLink } from '../markdown/Markdown'
import { useWords } from '../words'

const FIELD_FROM = 12

/** All works of the list; the chosen one is scrolled to. */
export function References({ works, chosen }: { works: readonly Reference[]; chosen: number }) {
  const t = useWords()
  const [wanted, setWanted] = useState('')
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    list.current?.querySelector(`[data-number="${chosen}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const words = wanted.toLowerCase().split(/\s+/)
  const shown = works.filter((work) => work.number === chosen || words.every((word) => work.text.toLowerCase().includes(word)))
  return (
    <>
      {works.length > FIELD_FROM ? (
        <input
          type="search"
          className="field"
          value={wanted}
          placeholder={t('reader.findReference')}
          aria-label={t('reader.findReference')}
          onChange={(event) => setWanted(event.target.value)}
        />
      ) : null}
      {works.length ? null : <p className="muted tiny">{t('reader.noReferences')}</p>}
      <ol className="references" ref={list}>
        {shown.map((work) => (
          <li key={work.number} className="reference" data-number={work.number} data-chosen={work.number === chosen}>
            <WorkCard work={work} />
          </li>
        ))}
      </ol>
    </>
  )
}

/** One work. Everything is phrasing content: the card also stands within a paragraph. */
export function WorkCard({ work }: { work: Reference }) {
  const t = useWords()
  const head = [work.label ? `[${work.label}]` : '', work.first_author, work.year].filter(Boolean).join(' ')
  return (
    <span className="work-card">
      <span className="work-head">{head || `${work.number}`}</span>
      <span className="work-text">{work.text}</span>
      <span className="row wrap tiny">
        {work.doi ? <OutLink href={`https://doi.org/${work.doi}`}>DOI</OutLink> : null}
        {work.arxiv_id ? <OutLink href={`https://arxiv.org/abs/${work.arxiv_id}`}>arXiv</OutLink> : null}
        {work.bibcode ? (
          <span title={work.made ? t('reader.madeBibcode', { bibcode: work.bibcode }) : work.bibcode}>
            <OutLink href={`https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(work.bibcode)}`}>ADS{work.made ? '?' : ''}</OutLink>
          </span>
        ) : null}
        <AddWork work={work} />
      </span>
    </span>
  )
}

type Adding = 'no' | 'sending' | 'sent' | { trouble: string }

function AddWork({ work }: { work: Reference }) {
  const t = useWords()
  const [state, setState] = useState<Adding>('no')
  const id = work.arxiv_id || work.doi || work.bibcode
  const head = `${work.first_author} ${work.year}`.trim()
  if (work.paper_id) {
    return (
      <a className="button small quiet" href={href('reader', work.paper_id)}>
        {t('paper.open')}
        <span className="hidden-text">: {head}</span>
      </a>
    )
  }
  if (!id) return <span className="muted">{t('reader.noIdentifier')}</span>
  if (state === 'sent') {
    return (
      <a className="good row" href={href('library')}>
        <Check aria-hidden /> {t('search.adding')}
      </a>
    )
  }
  const add = () => {
    setState('sending')
    api.post('/papers', { id }).then(
      () => setState('sent'),
      (error: unknown) => setState({ trouble: asApiError(error).message }),
    )
  }
  return (
    <>
      <button className="button small quiet" disabled={state === 'sending'} onClick={add}>
        <Plus aria-hidden /> {t('search.add')}
        <span className="hidden-text">: {head}</span>
      </button>
      {typeof state === 'object' ? <span className="bad">{state.trouble}</span> : null}
    </>
  )
}

interface MentionGiven {
  works: readonly Reference[]
  onChoose: (number: number) => void
  children: ReactNode
}

const WIDTH = 340
const EDGE = 8

/** A place of the text that cites; the cards come with the pointer or the focus, Escape takes them away. */
export function CitedHere({ works, onChoose, children }: MentionGiven) {
  const [place, setPlace] = useState<React.CSSProperties | null>(null)
  const show = (node: HTMLElement) => {
    const box = node.getBoundingClientRect()
    const left = Math.max(EDGE, Math.min(box.left, window.innerWidth - WIDTH - EDGE))
    const below = window.innerHeight - box.bottom
    setPlace(below > 220 || below > box.top ? { left, top: box.bottom } : { left, bottom: window.innerHeight - box.top })
  }
  const hide = () => setPlace(null)
  return (
    <span
      className="cited-here"
      onMouseEnter={(event) => show(event.currentTarget)}
      onMouseLeave={hide}
      onFocus={(event) => show(event.currentTarget)}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) hide()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') hide()
      }}
    >
      <span
        role="button"
        tabIndex={0}
        className="cited-words"
        onClick={() => onChoose(works[0]?.number ?? 0)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChoose(works[0]?.number ?? 0)
        }}
      >
        {children}
      </span>
      {place ? (
        <span className="works-here" role="note" style={place}>
          {works.map((work) => (
            <WorkCard key={work.number} work={work} />
          ))}
        </span>
      ) : null}
    </span>
  )
}
