/** Objects on the sky: look one up, see where it is, and which papers of the library speak of it. */
import { Search } from 'lucide-react'
import { type SyntheticEvent, useEffect, useMemo, useState } from 'react'
import { api } from '../api/client'
import type { FieldObject, Target } from '../api/shapes'
import { useLoaded } from '../api/useLoaded'
import { go, href, type Route } from '../app/route'
import { PlainTitle } from '../ui/PlainTitle'
import { Empty, Trouble } from '../ui/parts'
import { remember, remembered } from '../ui/prefs'
import { useWords } from '../words'
import type { Place } from './projection'
import { StarField } from './StarField'
import { TargetFacts } from './TargetFacts'
import './targets.css'

const KEY = 'nuncius.targets'
const MOST = 30

type Known = Place & { name: string }

function recent(): Known[] {
  const kept = remembered<unknown>(KEY, [])
  return Array.isArray(kept) ? (kept as Known[]) : []
}

interface Passage {
  paper_id: string
  title: string
  page: number | null
  text: string
}

export function TargetsPage({ route }: { route: Route }) {
  const t = useWords()
  const name = route.query.get('name') ?? ''
  const { data: target, error, loading } = useLoaded<Target>(name ? `/targets?name=${encodeURIComponent(name)}` : null)
  const [known, setKnown] = useState(recent)
  useEffect(() => {
    if (target?.ra_deg == null || target.dec_deg == null) return
    const one = { name: target.name, ra_deg: target.ra_deg, dec_deg: target.dec_deg }
    setKnown((last) => {
      const next = [one, ...last.filter((star) => star.name !== one.name)].slice(0, MOST)
      remember(KEY, next)
      return next
    })
  }, [target])
  return (
    <div className="page">
      <div className="inner">
        <h1>{t('nav.targets')}</h1>
        <Ask key={name} name={name} />
        {known.length ? (
          <p className="row wrap">
            {known.slice(0, 10).map((star) => (
              <a key={star.name} className="chip" href={href('targets', '', { name: star.name })}>
                {star.name}
              </a>
            ))}
          </p>
        ) : null}
        {error ? <Trouble error={error} /> : null}
        {loading ? <p className="muted">{t('target.asking', { name })}</p> : null}
        {target ? <Shown target={target} known={known} /> : null}
        {name ? null : (
          <Empty title={t('target.empty')} example="M 31 · WASP-39 b · 05h34m31.9s +22d00m52s · 小麦哲伦云">
            <p>{t('target.teaches')}</p>
          </Empty>
        )}
      </div>
    </div>
  )
}

function Ask({ name }: { name: string }) {
  const t = useWords()
  const [text, setText] = useState(name)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (text.trim()) go(href('targets', '', { name: text.trim() }))
  }
  return (
    <form className="row" onSubmit={submit}>
      <label className="search-field spread">
        <Search aria-hidden />
        <span className="hidden-text">{t('target.name')}</span>
        <input type="search" value={text} placeholder={t('target.name')} onChange={(event) => setText(event.target.value)} />
      </label>
      <button className="button primary">{t('target.ask')}</button>
    </form>
  )
}

function Shown({ target, known }: { target: Target; known: readonly Known[] }) {
  const t = useWords()
  const others = useMemo(() => known.map(bare), [known])
  return (
    <>
      <section className="target-card card">
        <StarField key={`${target.ra_deg} ${target.dec_deg}`} target={target} size={400} known={others}>
          <TargetFacts target={target} />
        </StarField>
      </section>
      <section>
        <h2>{t('target.papers')}</h2>
        <Mentions target={target} />
      </section>
    </>
  )
}

/** What was looked up before, as far as it is remembered. */
function bare({ name, ra_deg, dec_deg }: Known): FieldObject {
  const unknown = { magnitude: null, pm_ra_mas_yr: null, pm_dec_mas_yr: null, major_arcmin: null, minor_arcmin: null, angle_deg: null }
  return { name, ra_deg, dec_deg, catalogue: '', object_type: '', type_text: '', is_star: false, band: '', ...unknown }
}

/** Passages of the library that name the target. */
function Mentions({ target }: { target: Target }) {
  const t = useWords()
  const [found, setFound] = useState<{ of: Target; passages: Passage[] } | null>(null)
  useEffect(() => {
    let wanted = true
    const query = [target.asked, target.name].filter(Boolean).join(' ')
    api.post<{ passages: Passage[] }>('/rag', { query, k: 20 }).then(
      ({ passages }) => {
        if (wanted) setFound({ of: target, passages })
      },
      () => {
        if (wanted) setFound({ of: target, passages: [] })
      },
    )
    return () => {
      wanted = false
    }
  }, [target])
  if (found?.of !== target) return null
  const papers = [...new Map(found.passages.map((passage) => [passage.paper_id, passage])).values()]
  if (!papers.length) return <p className="muted">{t('target.noPapers')}</p>
  return (
    <ul className="mentions">
      {papers.map((passage) => (
        <li key={passage.paper_id}>
          <a href={href('reader', passage.paper_id, { page: passage.page, quote: passage.text.slice(0, 400) })}>
            <PlainTitle text={passage.title} />
          </a>{' '}
          <span className="tiny muted">{passage.page ? t('cite.page', { page: passage.page }) : ''}</span>
        </li>
      ))}
    </ul>
  )
}
