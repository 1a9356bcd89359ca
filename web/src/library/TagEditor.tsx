/** The tags of a paper: hang one on with Enter, take one off with its button. */
import { Tag, X } from 'lucide-react'
import { type SyntheticEvent, useRef, useState } from 'react'
import { api } from '../api/client'
import type { Paper } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { useWords } from '../words'

interface Given {
  paper: Paper
  onChange: (paper: Paper) => void
  onShow: (tag: string) => void
}

export function TagEditor({ paper, onChange, onShow }: Given) {
  const t = useWords()
  const [typed, setTyped] = useState('')
  const [trouble, setTrouble] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const known = useLoaded<{ values: { value: string }[] }>('/papers/facets?of=tag')
  const hang = (tags: readonly string[]) => {
    setTrouble('')
    api.patch<Paper>(`/papers/${paper.paper_id}`, { tags }).then(
      (tagged) => {
        onChange(tagged)
        setTyped('')
        known.reload()
      },
      (error: unknown) => {
        const { message, hint } = asApiError(error)
        setTrouble(`${message} ${hint}`)
      },
    )
    field.current?.focus()
  }
  const add = (event: SyntheticEvent) => {
    event.preventDefault()
    if (typed.trim()) hang([...paper.tags, typed])
  }
  return (
    <div className="tags">
      {paper.tags.length ? (
        <ul className="row wrap" aria-label={t('paper.tags')}>
          {paper.tags.map((tag) => (
            <li key={tag} className="chip tag-chip">
              <button title={t('tags.show', { tag })} onClick={() => onShow(tag)}>
                <span className="clip">{tag}</span>
              </button>
              <button
                aria-label={t('tags.remove', { tag })}
                title={t('tags.remove', { tag })}
                onClick={() => hang(paper.tags.filter((one) => one !== tag))}
              >
                <X aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <form className="row tag-form" onSubmit={add}>
        <Tag aria-hidden className="muted" />
        <input
          ref={field}
          className="field spread"
          list="known-tags"
          value={typed}
          aria-label={t('tags.add')}
          placeholder={t('tags.add')}
          onChange={(event) => setTyped(event.target.value)}
        />
        <datalist id="known-tags">
          {known.data?.values.map(({ value }) => <option key={value} value={value} />)}
        </datalist>
      </form>
      {trouble ? (
        <p className="bad tiny" role="alert">
          {trouble}
        </p>
      ) : null}
    </div>
  )
}
