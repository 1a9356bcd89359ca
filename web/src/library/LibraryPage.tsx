/** The library: one dense table, what comes in, and a panel for one paper. */
import { Download, Plus, Upload, X } from 'lucide-react'
import { type DragEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { api, withQuery } from '../api/client'
import type { Paper, PaperDetail, Task } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, type Route } from '../app/route'
import { Empty, IconButton, Trouble } from '../ui/parts'
import { save } from '../ui/save'
import { useWords } from '../words'
import { AddDialog } from './AddDialog'
import { FilterBar } from './FilterBar'
import { keep, placeIn, wayBack } from './kept'
import { PaperPanel } from './PaperPanel'
import { PaperTable } from './PaperTable'
import { isFiltered, noFilters, sortedBy } from './query'
import { TaskStrip } from './TaskStrip'
import { forgetDone, nextId, type Unsent, upload } from './uploads'
import { useAsked, useEscape } from './useAsked'
import { usePapers } from './usePapers'
import './library.css'

/** A bare address leads back to where one was. */
export function LibraryPage({ route }: { route: Route }) {
  const [back, setBack] = useState(() => (route.query.toString() ? '' : wayBack(route.id)))
  useLayoutEffect(() => {
    if (!back) return
    go(back, true)
    setBack('')
  }, [back])
  return back ? null : <Library route={route} />
}

function Library({ route }: { route: Route }) {
  const t = useWords()
  const { filters, wanted, sort, setFilters, setSort, at } = useAsked(route)
  const query = at('').split('?')[1] ?? ''
  const [begin] = useState(() => placeIn(query))
  const { papers, total, error, reload, more, put } = usePapers(wanted, sort, begin.count)
  const place = useRef({ query, top: begin.top })
  const count = papers?.length ?? begin.count
  const keepPlace = (top: number) => {
    place.current = { query, top }
    keep({ id: route.id, query, top, count })
  }
  useEffect(() => {
    const top = place.current.query === query ? place.current.top : 0
    keep({ id: route.id, query, top, count })
  }, [route.id, query, count])
  const tasks = useLoaded<{ tasks: Task[] }>('/tasks', 2000)
  const detail = useLoaded<PaperDetail>(route.id ? `/papers/${encodeURIComponent(route.id)}` : null)
  const [adding, setAdding] = useState(false)
  const [dropping, setDropping] = useState(false)
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  const picker = useRef<HTMLInputElement>(null)
  const row = papers?.find((paper) => paper.paper_id === route.id)
  const gone = detail.error?.status === 404
  const chosen = !gone && (row || detail.data) ? ({ ...detail.data, ...row } as Paper & Partial<PaperDetail>) : undefined

  // A task that ended has changed the list.
  const ended = tasks.data?.tasks.filter((task) => task.state === 'done' || task.state === 'failed').map((task) => task.id).join(' ') ?? ''
  const seen = useRef(ended)
  useEffect(() => {
    if (!tasks.data || seen.current === ended) return
    seen.current = ended
    forgetDone(tasks.data.tasks)
    reload()
  }, [tasks.data, ended, reload])

  const send = (files: Iterable<File>) => {
    for (const file of files) {
      upload(file).then(tasks.reload, (reason: unknown) => {
        const { message, hint } = asApiError(reason)
        setUnsent((known) => [...known, { id: nextId(), file, message, hint }])
      })
    }
  }
  const leave = (one: Unsent) => setUnsent((known) => known.filter((other) => other !== one))
  const drag = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return // words and links are not for the library
    event.preventDefault()
    setDropping(event.type === 'dragover')
    if (event.type === 'drop') send(event.dataTransfer.files)
  }
  const close = () => {
    const inside = document.querySelector('.library .panel')?.contains(document.activeElement)
    go(at(''), true)
    if (inside) document.querySelector<HTMLElement>('.paper-row[tabindex="0"]')?.focus({ preventScroll: true })
  }
  useEscape(route.id ? close : null)
  const exportShown = (format: 'bibtex' | 'ris' | 'csl-json') => {
    const ending = { bibtex: 'bib', ris: 'ris', 'csl-json': 'json' }[format]
    setTrouble(null)
    api.text(withQuery('/papers/export', { ...wanted, format })).then(
      (text) => save(`library.${ending}`, text),
      (reason: unknown) => setTrouble(asApiError(reason)),
    )
  }

  return (
    <div
      className="library"
      data-panel={chosen || gone ? 'yes' : 'no'}
      onDragOver={drag}
      onDragLeave={(event) => {
        // Over a child it has not left; nothing to go to is outside of the window.
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setDropping(false)
      }}
      onDrop={drag}
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
        {detail.error && !chosen && !gone ? <Trouble error={detail.error} onRetry={detail.reload} /> : null}
        {trouble ? <Trouble error={trouble} /> : null}
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
            onChoose={(id) => go(at(id), true)}
            onMore={more}
            query={query}
            top={begin.top}
            onScrolled={keepPlace}
          />
        )}
        <TaskStrip
          tasks={tasks.data?.tasks ?? []}
          unsent={unsent}
          onRetried={tasks.reload}
          onFiles={() => picker.current?.click()}
          onSend={(one) => {
            leave(one)
            send([one.file])
          }}
          onLeave={leave}
        />
      </div>
      {chosen ? (
        <PaperPanel
          key={chosen.paper_id}
          paper={chosen}
          onClose={close}
          onGone={reload}
          onChange={(paper) => {
            put(paper)
            detail.reload()
          }}
          onTag={(tag) => setFilters({ ...noFilters, tag })}
        />
      ) : gone ? (
        <aside className="panel" aria-label={t('library.panel')}>
          <div className="row">
            <h2 className="panel-title spread">{t('library.gone')}</h2>
            <IconButton icon={X} label={t('common.close')} onClick={close} />
          </div>
          <p className="muted">{t('library.goneWhy')}</p>
        </aside>
      ) : null}
      {adding ? <AddDialog onClose={() => setAdding(false)} onAdded={tasks.reload} /> : null}
      {dropping ? <div className="drop-here">{t('library.drop')}</div> : null}
    </div>
  )
}
