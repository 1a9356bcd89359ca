/** One paper beside the table: abstract, names, files, what the parser says of it. */
import { BookOpen, ExternalLink, Trash2, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api, ApiError, withQuery } from '../api/client'
import type { Paper, PaperDetail } from '../api/shapes'
import { asApiError } from '../api/useLoaded'
import { href } from '../app/route'
import { Markdown } from '../markdown/Markdown'
import { IconButton } from '../ui/parts'
import { bytes } from '../ui/format'
import { PlainTitle } from '../ui/PlainTitle'
import { useWords } from '../words'
import { engineInWords, verdictInWords } from './reading'
import { TagEditor } from './TagEditor'

interface Given {
  paper: Paper & Partial<PaperDetail>
  onGone: () => void
  onChange: (paper: Paper) => void
  onTag: (tag: string) => void
  onClose: () => void
}

export function PaperPanel({ paper, onGone, onChange, onTag, onClose }: Given) {
  const t = useWords()
  const [sure, setSure] = useState(false)
  const [trouble, setTrouble] = useState('')
  const [copied, setCopied] = useState(false)
  const remove = () => {
    if (!sure) return setSure(true)
    api.delete(`/papers/${paper.paper_id}`).then(
      () => {
        onClose()
        onGone()
      },
      (error: unknown) => setTrouble(asApiError(error).message),
    )
  }
  // The export's own entry, so that a key found here is found there too.
  const copy = async () => {
    setTrouble('')
    try {
      const entry = await api.text(withQuery('/papers/export', { ids: paper.paper_id, format: 'bibtex' }))
      await navigator.clipboard.writeText(entry)
      setCopied(true)
    } catch (error) {
      setTrouble(error instanceof ApiError ? `${error.message} ${error.hint}` : t('paper.notCopied'))
    }
  }
  const links = [
    paper.arxiv_id ? ['arXiv', `https://arxiv.org/abs/${paper.arxiv_id}`] : null,
    paper.doi ? ['DOI', `https://doi.org/${paper.doi}`] : null,
    paper.bibcode ? ['ADS', `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(paper.bibcode)}`] : null,
  ].filter((one) => one !== null)
  return (
    <aside className="panel" aria-label={t('library.panel')}>
      <div className="row">
        <a className="button primary" href={href('reader', paper.paper_id)}>
          <BookOpen aria-hidden /> {t('paper.read')}
        </a>
        <span className="spread" />
        <IconButton icon={X} label={t('common.close')} onClick={onClose} />
      </div>
      <h2 className="panel-title">
        <PlainTitle text={paper.title} />
      </h2>
      <p className="muted">
        {paper.authors.slice(0, 8).join('; ')}
        {paper.authors.length > 8 ? t('paper.andMore', { n: paper.authors.length - 8 }) : ''}
      </p>
      {links.length ? (
        <p className="row wrap">
          {links.map(([name, url]) => (
            <a key={name} href={url} target="_blank" rel="noopener noreferrer" className="row tiny">
              {name} <ExternalLink aria-hidden />
            </a>
          ))}
        </p>
      ) : null}
      <TagEditor paper={paper} onChange={onChange} onShow={onTag} />
      {paper.abstract ? <Markdown text={paper.abstract} className="abstract" /> : null}
      <dl className="facts">
        {paper.journal ? <Fact name={t('paper.journal')}>{paper.journal}</Fact> : null}
        <Fact name={t('paper.citeKey')}>
          <span className="mono">{paper.cite_key}</span>
        </Fact>
        {paper.pages ? <Fact name={t('paper.pages')}>{paper.pages}</Fact> : null}
        <Fact name={t('paper.notes')}>{paper.notes}</Fact>
        {paper.engine ? (
          <Fact name={t('paper.engine')}>
            {engineInWords(paper.engine, t)} <span className="muted mono tiny">{paper.engine}</span>
          </Fact>
        ) : null}
        {paper.verdict ? (
          <Fact name={t('paper.verdict')}>
            <span className={paper.verdict === 'good' ? '' : 'caution'}>{verdictInWords(paper.verdict, t)}</span>
          </Fact>
        ) : null}
        {paper.files.map((file) => (
          <FileFact key={file.path} path={file.path} size={file.size_bytes} present={file.present} />
        ))}
      </dl>
      <div className="row wrap">
        <button className="button small" onClick={() => void copy()}>
          {t(copied ? 'common.copied' : 'paper.copyBibtex')}
        </button>
        <span className="spread" />
        <button className="button small quiet" onClick={remove}>
          <Trash2 aria-hidden /> {t(sure ? 'paper.removeSure' : 'paper.remove')}
        </button>
      </div>
      {trouble ? (
        <p className="bad" role="alert">
          {trouble}
        </p>
      ) : null}
    </aside>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function FileFact({ path, size, present }: { path: string; size: number; present: boolean }) {
  const t = useWords()
  return (
    <>
      <dt>{t('paper.file')}</dt>
      <dd className={present ? '' : 'caution'} title={path}>
        {path.split(/[\\/]/).at(-1)} <span className="muted">{present ? bytes(size) : t('paper.fileGone')}</span>
      </dd>
    </>
  )
}
