/** The library: one dense table, what comes in, and a panel for one paper. */
import { Download, Plus, Upload } from 'lucide-react'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { api, withQuery } from '../api/client'
import type { Paper, PaperDetail, Task } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, href, type Route } from '../app/route'
import { Empty, Trouble } from '../ui/parts'
import { save } from '../ui/save'
import { useWords } from '../words'
import { AddDialog } from './AddDialog'
import { FilterBar } from './FilterBar'
import { PaperPanel } from './PaperPanel'
import { PaperTable } from './PaperTable'
import { type Filters, isFiltered, noFilters, type Sort, sortedBy } from './query'
import { TaskStrip } from './TaskStrip'
import { forgetDone, upload } from './uploads'
import { usePapers, useSettled } from './usePapers'
import './library.css'

export function LibraryPage({ route }: { route: Route }) {
  const t = useWords()
  const [filters, setFilters] = useState<Filters>(noFilters)
  const [sort, setSort] = useState<Sort>({ key: 'added', down: true })
  const wanted = { ...filters, q: useSettled(filters.q.trim()) }
  const { papers, total, error, reload, more, put } = usePapers(wanted, sort)
  const tasks = useLoaded<{ tasks: Task[] }>('/tasks', 2000)
  const detail = useLoaded<PaperDetail>(route.id ? `/papers/${encodeURIComponent(route.id)}` : null)
  const [adding, setAdding] = useState(false)
  const [dropping, setDropping] = useState(false)
  const [trouble, setTrouble] = useState<{ message: string; hint: string; file?: File } | null>(null)
  const unsent = trouble?.file
  const picker = useRef<HTMLInputElement>(null)
  const row = papers?.find((paper) => paper.paper_id === route.id)
  const chosen = row || detail.data ? ({ ...detail.data, ...row } as Paper & Partial<PaperDetail>) : undefined

  // A task that ended has changed the list.
  const ended = tasks.data?.tasks.filter((task) => task.state === 'done' || task.state === 'failed').length ?? 0
  const seen = useRef(ended)
  useEffect(() => {
    if (!tasks.data || seen.current === ended) return
    seen.current = ended
    forgetDone(tasks.data.tasks)
    reload()
  }, [tasks.data, ended, reload])

  const send = (files: Iterable<File>) => {
    setTrouble(null)
    for (const file of files) {
      upload(file).then(tasks.reload, (reason: unknown) => {
        const { message, hint } = asApiError(reason)
        setTrouble({ message: `${file.name}: ${message}`, hint, file })
      })
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setDropping(false)
    send(event.dataTransfer.files)
  }
  const exportShown = (format: 'bibtex' | 'ris' | 'csl-json') => {
    const ending = { bibtex: 'bib', ris: 'ris', 'csl-json': 'json' }[format]
    api.text(withQuery('/papers/export', { ...wanted, format })).then(
      (text) => save(`library.${ending}`, text),
      (reason: unknown) => setTrouble(asApiError(reason)),
    )
  }

  return (
    <div
      className="library"
      data-panel={chosen ? 'yes' : 'no'}
      onDragOver={(event) => {
        event.preventDefault()
        setDropping(true)
      }}
      onDragLeave={(event) => {
        if (event.currentTarget === event.target) setDropping(false)
      }}
      onDrop={drop}
    >
      <div className="library-main">
        <header className="library-head">
          <div className="row wrap">
            <h1 className="spread">
              {t('nav.library')} <span className="muted number">{total || ''}</span>
            </h1>
            <button className="button primary" onClick={() => setAdding(true)}>
              <Plus aria-hidden /> {t('library.add')}
            </button>
            <button className="button" onClick={() => picker.current?.click()}>
              <Upload aria-hidden /> {t('library.files')}
            </button>
            <input
              ref={picker}
              type="file"
              hidden
              multiple
              accept=".pdf,.html,.htm,.tex,.md,.gz,.tar,.zip"
              onChange={(event) => {
                send([...(event.target.files ?? [])])
                event.target.value = '' // the same file may be chosen again
              }}
            />
            <label className="row export">
              <Download aria-hidden />
              <span className="hidden-text">{t('library.export')}</span>
              <select
                className="field"
                value=""
                onChange={(event) => exportShown(event.target.value as 'bibtex')}
                disabled={!total}
              >
                <option value="" disabled>
                  {t('library.export')}
                </option>
                <option value="bibtex">BibTeX</option>
                <option value="ris">RIS</option>
                <option value="csl-json">CSL JSON</option>
              </select>
            </label>
          </div>
          <FilterBar filters={filters} onChange={setFilters} />
        </header>
        {error ? <Trouble error={error} onRetry={reload} /> : null}
        {detail.error && !chosen ? <Trouble error={detail.error} /> : null}
        {trouble && unsent ? <Trouble error={trouble} onRetry={() => send([unsent])} /> : trouble ? <Trouble error={trouble} /> : null}
        {papers?.length === 0 && isFiltered(wanted) ? (
          <Empty title={t('filter.nothing')}>
            <p>
              <button className="button" onClick={() => setFilters(noFilters)}>
                {t('filter.clear')}
              </button>
            </p>
          </Empty>
        ) : papers?.length === 0 ? (
          <Empty title={t('library.empty')} example="arXiv:2112.04510 · 10.3847/2041-8213/ac5c5b · 2022ApJ...934L...7R">
            <p>{t('library.teaches')}</p>
          </Empty>
        ) : (
          <PaperTable
            papers={papers ?? []}
            total={total}
            chosen={route.id}
            sort={sort}
            onSort={(key) => setSort(sortedBy(key, sort))}
            onChoose={(id) => go(href('library', id), true)}
            onMore={more}
          />
        )}
        <TaskStrip tasks={tasks.data?.tasks ?? []} onRetried={tasks.reload} onFiles={() => picker.current?.click()} />
      </div>
      {chosen ? (
        <PaperPanel
          paper={chosen}
          onGone={reload}
          onChange={(paper) => {
            put(paper)
            detail.reload()
          }}
          onTag={(tag) => setFilters({ ...noFilters, tag })}
        />
      ) : null}
      {adding ? <AddDialog onClose={() => setAdding(false)} onAdded={tasks.reload} /> : null}
      {dropping ? <div className="drop-here">{t('library.drop')}</div> : null}
    </div>
  )
}
