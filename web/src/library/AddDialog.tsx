/** Add by identifier, or search ADS and arXiv and add from there. */
import { type SyntheticEvent, useState } from 'react'
import { api } from '../api/client'
import type { SearchAnswer, Task } from '../api/shapes'
import { asApiError } from '../api/useLoaded'
import { FoundPapers } from '../research/cards/SearchCard'
import { Dialog, Trouble } from '../ui/parts'
import { useWords } from '../words'
import '../research/cards/cards.css'

/** An arXiv id, a DOI or a bibcode; all else is a search. */
export function identifiers(text: string): string[] {
  const parts = text.split(/[\s,;]+/).filter(Boolean)
  const known = /^(?:arxiv:)?\d{4}\.\d{4,5}(?:v\d+)?$|^(?:arxiv:)?[a-z-]+(?:\.[A-Z]{2})?\/\d{7}$|^(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:)?10\.\d{4,9}\/\S+$|^\d{4}[A-Za-z&.]{5}[A-Za-z0-9.]{9}[A-Z]$|^https?:\/\/arxiv\.org\/\S+$/i
  return parts.length > 0 && parts.every((part) => known.test(part)) ? parts : []
}

export function AddDialog({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const t = useWords()
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const [found, setFound] = useState<SearchAnswer | null>(null)
  const ids = identifiers(text)

  const submit = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!text.trim()) return
    setBusy(true)
    setTrouble(null)
    try {
      if (ids.length) {
        await Promise.all(ids.map((id) => api.post<Task>('/papers', { id })))
        onAdded()
        onClose()
      } else {
        setFound(await api.post<SearchAnswer>('/search', { query: text.trim(), rows: 30 }))
      }
    } catch (error) {
      setTrouble(asApiError(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={t('library.add')} onClose={onClose}>
      <form className="add-form" onSubmit={(event) => void submit(event)}>
        <div className="row wrap">
          <input
            className="field add-what"
            autoFocus
            value={text}
            aria-label={t('add.what')}
            placeholder={t('add.what')}
            onChange={(event) => setText(event.target.value)}
          />
          <button className="button primary" disabled={busy || !text.trim()}>
            {ids.length ? t('add.byId', { n: ids.length }) : t('add.search')}
          </button>
        </div>
        <p className="tiny muted">{busy ? t('add.busy') : t('add.hint')}</p>
        {trouble ? <Trouble error={trouble} /> : null}
        {found?.errors.map((error) => (
          <p key={error.source} className="caution tiny">
            {error.source}: {error.message} {error.hint}
          </p>
        ))}
        {found ? <FoundPapers papers={found.papers} /> : null}
      </form>
    </Dialog>
  )
}
