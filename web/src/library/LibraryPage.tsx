/** The library: one dense table, what comes in, and a panel for one paper. */
import { Download, Plus, Search, Upload } from 'lucide-react'
import { type DragEvent, useDeferredValue, useMemo, useRef, useState } from 'react'
import { api } from '../api/client'
import { type Paper, type PaperState, paperStates, type Task } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, href, type Route } from '../app/route'
import { Empty, Trouble } from '../ui/parts'
import { save } from '../ui/save'
import { useWords } from '../words'
import { AddDialog } from './AddDialog'
import { bibtexOf } from './bibtex'
import { countBy, matching, type Filters, noFilters, type SortKey, sorted } from './filter'
import { PaperPanel } from './PaperPanel'
import { PaperTable } from './PaperTable'
import { TaskStrip } from './TaskStrip'
import './library.css'

const MOST = 1000

/** All papers, page after page: filters and sorting here answer at once. */
function usePapers() {
  const first = useLoaded<{ papers: Paper[]; total?: number; next_cursor: string | null }>(`/papers?limit=${MOST}`)
  const [more, setMore] = useState<{ of: unknown; papers: Paper[] }>({ of: null, papers: [] })
  const cursor = first.data?.next_cursor
  const asked = useRef<unknown>(null)
  if (cursor && asked.current !== first.data) {
    asked.current = first.data
    const of = first.data
    void (async () => {
      const papers: Paper[] = []
      for (let next: string | null = cursor; next; ) {
        const page: { papers: Paper[]; next_cursor: string | null } = await api.get(`/papers?limit=${MOST}&cursor=${encodeURIComponent(next)}`)
        papers.push(...page.papers)
        next = page.next_cursor
      }
      setMore({ of, papers })
    })().catch(() => undefined) // the first page stands; the next load tells
  }
  const papers = useMemo(
    () => [...(first.data?.papers ?? []), ...(more.of === first.data ? more.papers : [])],
    [first.data, more],
  )
  return { ...first, papers }
}

export function LibraryPage({ route }: { route: Route }) {
  const t = useWords()
  const { papers, data, error, reload } = usePapers()
  const tasks = useLoaded<{ tasks: Task[] }>('/tasks', 2000)
  const [filters, setFilters] = useState<Filters>(noFilters)
  const [sort, setSort] = useState<{ key: SortKey; down: boolean }>({ key: 'added', down: true })
  const [adding, setAdding] = useState(false)
  const [dropping, setDropping] = useState(false)
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  const wanted = useDeferredValue(filters)
  const shown = useMemo(() => sorted(matching(papers, wanted), sort.key, sort.down), [papers, wanted, sort])
  const chosen = papers.find((paper) => paper.paper_id === route.id)

  // A task that ended has changed the list.
  const ended = tasks.data?.tasks.filter((task) => task.state === 'done' || task.state === 'failed').length ?? 0
  const seen = useRef(ended)
  if (tasks.data && seen.current !== ended) {
    seen.current = ended
    queueMicrotask(reload)
  }

  const upload = (files: Iterable<File>) => {
    setTrouble(null)
    for (const file of files) {
      api.upload<Task>(`/papers/files?name=${encodeURIComponent(file.name)}`, file).then(tasks.reload, (reason: unknown) => {
        const { message, hint } = asApiError(reason)
        setTrouble({ message: `${file.name}: ${message}`, hint })
      })
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setDropping(false)
    upload(event.dataTransfer.files)
  }
  const exportShown = (format: 'bibtex' | 'ris' | 'csl-json') => {
    const ids = shown.map((paper) => paper.paper_id).join(',')
    const ending = { bibtex: 'bib', ris: 'ris', 'csl-json': 'json' }[format]
    api.text(`/papers/export?format=${format}${shown.length === papers.length ? '' : `&ids=${ids}`}`).then(
      (text) => save(`library.${ending}`, text),
      (reason: unknown) => {
        if (format === 'bibtex' && asApiError(reason).status === 404) save('library.bib', bibtexOf(shown))
        else setTrouble(asApiError(reason))
      },
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
              {t('nav.library')} <span className="muted number">{papers.length || ''}</span>
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
              onChange={(event) => upload(event.target.files ?? [])}
            />
            <label className="row export">
              <Download aria-hidden />
              <span className="hidden-text">{t('library.export')}</span>
              <select
                className="field"
                value=""
                onChange={(event) => exportShown(event.target.value as 'bibtex')}
                disabled={!shown.length}
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
          <FilterBar filters={filters} onChange={setFilters} papers={papers} />
        </header>
        {error ? <Trouble error={error} onRetry={reload} /> : null}
        {trouble ? <Trouble error={trouble} /> : null}
        {data && !papers.length ? (
          <Empty title={t('library.empty')} example="arXiv:2112.04510 · 10.3847/2041-8213/ac5c5b · 2022ApJ...934L...7R">
            <p>{t('library.teaches')}</p>
          </Empty>
        ) : (
          <PaperTable
            papers={shown}
            chosen={route.id}
            sort={sort}
            onSort={(key) => setSort({ key, down: key === sort.key ? !sort.down : key === 'added' || key === 'year' })}
            onChoose={(id) => go(href('library', id), true)}
          />
        )}
        <TaskStrip tasks={tasks.data?.tasks ?? []} onRetried={tasks.reload} onFiles={() => picker.current?.click()} />
      </div>
      {chosen ? <PaperPanel paper={chosen} onGone={reload} /> : null}
      {adding ? <AddDialog onClose={() => setAdding(false)} onAdded={tasks.reload} /> : null}
      {dropping ? <div className="drop-here">{t('library.drop')}</div> : null}
    </div>
  )
}

function FilterBar({ filters, onChange, papers }: { filters: Filters; onChange: (next: Filters) => void; papers: readonly Paper[] }) {
  const t = useWords()
  const states = useMemo(() => countBy(papers, (paper) => paper.state), [papers])
  const field = (name: 'author' | 'years', width: number) => (
    <input
      className="field"
      style={{ width }}
      value={filters[name]}
      aria-label={t(`library.${name}`)}
      placeholder={t(`library.${name}`)}
      onChange={(event) => onChange({ ...filters, [name]: event.target.value })}
    />
  )
  const toggle = (state: PaperState) => onChange({ ...filters, state: filters.state === state ? '' : state })
  return (
    <div className="row wrap filters">
      <label className="search-field">
        <Search aria-hidden />
        <span className="hidden-text">{t('library.search')}</span>
        <input
          type="search"
          value={filters.text}
          placeholder={t('library.search')}
          onChange={(event) => onChange({ ...filters, text: event.target.value })}
        />
      </label>
      {field('author', 140)}
      {field('years', 112)}
      {paperStates
        .filter((state) => states.get(state))
        .map((state) => (
          <button key={state} className="chip" aria-pressed={filters.state === state} onClick={() => toggle(state)}>
            {t(`paperState.${state}`)} <span className="number tiny">{states.get(state)}</span>
          </button>
        ))}
    </div>
  )
}
