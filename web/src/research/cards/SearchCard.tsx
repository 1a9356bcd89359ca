import { Check, Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client'
import type { FoundPaper } from '../../api/shapes'
import { asApiError } from '../../api/useLoaded'
import { href } from '../../app/route'
import { PlainTitle } from '../../ui/PlainTitle'
import { shortReference, whole } from '../../ui/format'
import { useWords } from '../../words'

export function identifierOf(paper: FoundPaper): string {
  return paper.arxiv_id || paper.doi || paper.bibcode
}

/** Results of a search as a table; what the library lacks can be added from here. */
export function FoundPapers({ papers }: { papers: readonly FoundPaper[] }) {
  const t = useWords()
  const [states, setStates] = useState<ReadonlyMap<string, Adding>>(new Map())
  const lacking = papers.filter((paper) => !paper.paper_id && identifierOf(paper) && !states.has(identifierOf(paper)))
  const add = (id: string) => {
    const become = (state: Adding) => setStates((last) => new Map(last).set(id, state))
    become('sending')
    return api.post('/papers', { id }).then(
      () => become('added'),
      (error: unknown) => become({ trouble: asApiError(error).message }),
    )
  }
  const addAll = async () => {
    for (const paper of lacking) await add(identifierOf(paper))
  }
  if (!papers.length) return <p className="muted">{t('search.none')}</p>
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={t('tool.search_papers')}>
      <table className="plain found">
        <thead>
          <tr>
            <th>{t('paper.title')}</th>
            <th className="found-more">{t('paper.journal')}</th>
            <th className="number found-more">{t('paper.cited')}</th>
            <th>
              {lacking.length > 1 ? (
                <button className="button small quiet" onClick={() => void addAll()}>
                  {t('search.addAll', { n: lacking.length })}
                </button>
              ) : (
                <span className="hidden-text">{t('search.add')}</span>
              )}
            </th>
          </tr>
        </thead>
        <tbody>
          {papers.map((paper, place) => (
            <tr key={identifierOf(paper) || place}>
              <td>
                <div className="found-title">
                  <PlainTitle text={paper.title} />
                </div>
                <div className="muted tiny">
                  {shortReference(paper.authors, paper.year)}
                  {paper.status ? <span className="caution"> · {paper.status}</span> : null}
                </div>
              </td>
              <td className="tiny muted found-more">{paper.journal || (paper.arxiv_id ? `arXiv:${paper.arxiv_id}` : '')}</td>
              <td className="number found-more">{paper.citation_count === null ? '–' : whole(paper.citation_count)}</td>
              <td>
                <AddPaper paper={paper} state={states.get(identifierOf(paper)) ?? 'no'} onAdd={() => void add(identifierOf(paper))} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type Adding = 'no' | 'sending' | 'added' | { trouble: string }

function AddPaper({ paper, state, onAdd }: { paper: FoundPaper; state: Adding; onAdd: () => void }) {
  const t = useWords()
  const id = identifierOf(paper)
  if (paper.paper_id) {
    return (
      <a className="button small quiet" href={href('reader', paper.paper_id)}>
        {t('paper.open')}
      </a>
    )
  }
  if (state === 'added') {
    return (
      <span className="good row tiny">
        <Check aria-hidden /> {t('search.adding')}
      </span>
    )
  }
  return (
    <>
      <button className="button small" disabled={!id || state === 'sending'} onClick={onAdd}>
        <Plus aria-hidden />
        {t('search.add')}
        <span className="hidden-text">: {paper.title}</span>
      </button>
      {typeof state === 'object' ? <p className="bad tiny">{state.trouble}</p> : null}
    </>
  )
}
