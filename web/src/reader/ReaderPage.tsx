/** A paper to read: the PDF and its text side by side, with notes, quotes and the way back. */
import { ArrowLeft, BookOpen } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { api } from '../api/client'
import type { Note, Paper, PaperContent, Reference } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, href, type Route } from '../app/route'
import { Dialog, Empty, Trouble } from '../ui/parts'
import { verdictInWords } from '../library/reading'
import { shortReference } from '../ui/format'
import { PlainTitle } from '../ui/PlainTitle'
import { remember, remembered } from '../ui/prefs'
import { useWords } from '../words'
import type { Placed } from './chunks'
import { Margin, type MarginTab } from './Margin'
import { Notes } from './Notes'
import { PdfPane, type PdfControl } from './PdfPane'
import { forgetPlace, keepPlace, lastRead, placeOf, useFile } from './place'
import { References } from './References'
import { type Chosen, SelectionMenu, useChosen } from './SelectionMenu'
import { type PaneControl, TextPane } from './TextPane'
import './reader.css'

type View = 'pdf' | 'both' | 'text'
const VIEW = 'nuncius.view'
const noWorks: readonly Reference[] = []

export function ReaderPage({ route }: { route: Route }) {
  return route.id ? <Reader route={route} /> : <LastRead />
}

function LastRead() {
  const t = useWords()
  const papers = lastRead()
  return (
    <div className="page">
      <div className="inner">
        {papers.length ? (
          <>
            <h1>{t('reader.last')}</h1>
            <ul className="last-read">
              {papers.map((paper) => (
                <li key={paper.id}>
                  <a className="row" href={href('reader', paper.id)}>
                    <BookOpen aria-hidden /> <PlainTitle text={paper.title} />
                  </a>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <Empty title={t('reader.empty')}>
            <p>{t('reader.teaches')}</p>
            <p>
              <a href={href('library')}>{t('reader.toLibrary')}</a>
            </p>
          </Empty>
        )}
      </div>
    </div>
  )
}

function Reader({ route }: { route: Route }) {
  const t = useWords()
  const id = route.id
  const paper = useLoaded<Paper>(`/papers/${encodeURIComponent(id)}`)
  const content = useLoaded<PaperContent>(`/papers/${encodeURIComponent(id)}/content`)
  const notes = useLoaded<{ notes: Note[] }>(`/papers/${encodeURIComponent(id)}/notes`)
  const cited = useLoaded<{ references: Reference[] }>(`/papers/${encodeURIComponent(id)}/references`)
  const works = cited.data?.references ?? noWorks
  const file = useFile(paper.data)
  const [view, setView] = useState<View>(() => remembered<View>(VIEW, window.innerWidth > 1000 ? 'both' : 'text'))
  const [writing, setWriting] = useState<Chosen | null>(null)
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const [picked, setPicked] = useState('')
  const [tab, setTab] = useState<MarginTab>('notes')
  const [work, setWork] = useState(0)
  const [missing, setMissing] = useState(false)
  const [inPdf, setInPdf] = useState(true)
  const panes = useRef<HTMLDivElement>(null)
  const text = useRef<PaneControl>(null)
  const pdf = useRef<PdfControl>(null)
  const [chosen, clearChosen] = useChosen(panes)

  const quote = route.query.get('quote') ?? ''
  const asked = Number(route.query.get('page') ?? 0)
  const [place] = useState(() => placeOf(id))
  const startPage = asked || place.page
  const marks = useMemo(
    (): Placed[] => [
      ...(quote ? [{ id: 'quote', kind: 'quote' as const, text: quote }] : []),
      ...(notes.data?.notes ?? []).map((note) => ({ id: `note-${note.id}`, kind: 'note' as const, text: note.quote })),
    ],
    [quote, notes.data],
  )
  const pdfMarks = useMemo(
    () => [
      ...(quote ? [{ id: 'quote', text: quote, page: asked || null }] : []),
      ...(notes.data?.notes ?? []).map((note) => ({ id: `note-${note.id}`, text: note.quote, page: note.page })),
    ],
    [quote, asked, notes.data],
  )

  useEffect(() => {
    if (paper.data) keepPlace(id, { title: paper.data.title })
    if (paper.error?.status === 404) forgetPlace(id)
  }, [id, paper.data, paper.error])

  // Formulas and marks come in after the first drawing: the place is found again when they have.
  useEffect(() => {
    if (!content.data) return
    const find = () => {
      const found = quote !== '' && text.current?.toMark('quote') === true
      setMissing(quote !== '' && text.current !== null && !found)
      if (!found && asked) text.current?.toPage(asked)
    }
    const timers = [30, 350].map((wait) => setTimeout(find, wait))
    return () => timers.forEach(clearTimeout)
  }, [content.data, quote, asked])

  const choose = (next: View) => {
    setView(next)
    remember(VIEW, next)
  }
  const toPage = useCallback((page: number) => {
    pdf.current?.toPage(page)
    text.current?.toPage(page)
  }, [])
  const onMark = useCallback((mark: string) => setPicked(mark), [])
  const onWork = useCallback((number: number) => {
    setWork(number)
    setTab('references')
  }, [])
  const onPlace = useCallback((ratio: number) => keepPlace(id, { ratio }), [id])
  const onPdfPage = useCallback((page: number) => keepPlace(id, { page }), [id])

  const saveNote = async (from: Chosen, note: string): Promise<boolean> => {
    setTrouble(null)
    const body = { quote: from.text, note, ...(from.page ? { page: from.page } : {}), color: 'yellow' }
    try {
      await api.post(`/papers/${encodeURIComponent(id)}/notes`, body)
    } catch (error) {
      setTrouble(asApiError(error))
      return false
    }
    clearChosen()
    notes.reload()
    return true
  }
  const reference = paper.data ? shortReference(paper.data.authors, paper.data.year, paper.data.title) : ''
  const asCited = (from: Chosen) => `“${from.text}” (${reference}${from.page ? `, p. ${from.page}` : ''})`
  const back = route.query.get('back')
  const hasPdf = file.bytes !== null
  const shown: View = hasPdf ? view : 'text'

  return (
    <div className="reader">
      <header className="bar reader-bar">
        <a className="button quiet small" href={back ? href('research', back) : href('library', id)}>
          <ArrowLeft aria-hidden /> {t(back ? 'reader.backToAnswer' : 'nav.library')}
        </a>
        <div className="spread reader-title">
          <h1 className="clip">
            <PlainTitle text={paper.data?.title ?? (place.title || id)} />
          </h1>
          <p className="tiny muted clip">
            {reference}
            {missing ? <span className="caution"> · {t('reader.quoteMissing')}</span> : null}
            {!missing && !inPdf && shown !== 'text' ? <span className="caution"> · {t('reader.notInPdf')}</span> : null}
            {content.data && content.data.verdict !== 'good' ? <span className="caution"> · {verdictInWords(content.data.verdict, t)}</span> : null}
          </p>
        </div>
        {content.data?.sections.length ? (
          <select
            className="field contents"
            value=""
            aria-label={t('reader.contents')}
            onChange={(event) => text.current?.toHeading(Number(event.target.value))}
          >
            <option value="" disabled>
              {t('reader.contents')}
            </option>
            {content.data.sections.map((section, index) => (
              <option key={index} value={index}>
                {'\u2003'.repeat(Math.max(0, section.path.split(' > ').length - 1))}
                {section.title}
              </option>
            ))}
          </select>
        ) : null}
        {hasPdf ? (
          <div className="row views" role="group" aria-label={t('reader.view')}>
            {(['pdf', 'both', 'text'] as const).map((name) => (
              <button key={name} className="button quiet small" aria-pressed={shown === name} onClick={() => choose(name)}>
                {t(`reader.${name}`)}
              </button>
            ))}
          </div>
        ) : null}
      </header>
      {paper.error ? <Trouble error={paper.error} onRetry={paper.reload} /> : null}
      {paper.error?.status === 404 && quote ? (
        <figure className="lost-quote">
          <figcaption className="muted tiny">{t('reader.lostQuote')}</figcaption>
          <blockquote>{quote}</blockquote>
        </figure>
      ) : null}
      {trouble && !writing ? <Trouble error={trouble} /> : null}
      <div className="panes" data-view={shown} ref={panes}>
        {file.bytes && shown !== 'text' ? (
          <PdfPane bytes={file.bytes} marks={pdfMarks} control={pdf} start={startPage} onPage={onPdfPage} onFound={setInPdf} />
        ) : null}
        {shown === 'pdf' ? null : content.error && !paper.error ? (
          <Trouble error={content.error} />
        ) : content.data ? (
          <TextPane
            markdown={content.data.content}
            marks={marks}
            works={works}
            onWork={onWork}
            control={text}
            onPage={toPage}
            onMark={onMark}
            onPlace={onPlace}
            start={quote || asked ? null : place.ratio}
            settled={file.settled}
          />
        ) : null}
        <Margin tab={tab} counts={{ notes: notes.data?.notes.length ?? 0, references: works.length }} onTab={setTab}>
          {tab === 'references' ? (
            <References works={works} chosen={work} />
          ) : (
            <Notes
              paperId={id}
              notes={notes.data?.notes ?? []}
              chosen={picked}
              onChanged={notes.reload}
              onChoose={(note) => {
                setPicked(`note-${note.id}`)
                if (!text.current?.toMark(`note-${note.id}`) && note.page) text.current?.toPage(note.page)
                if (note.page) pdf.current?.toPage(note.page)
              }}
            />
          )}
        </Margin>
      </div>
      {chosen ? (
        <SelectionMenu
          chosen={chosen}
          onHighlight={() => void saveNote(chosen, '')}
          onNote={() => setWriting(chosen)}
          onAsk={() => go(href('research', '', { draft: `${asCited(chosen)}\n\n`, fresh: Date.now() }))}
          onCopy={() => void navigator.clipboard.writeText(asCited(chosen)).then(clearChosen)}
        />
      ) : null}
      {writing ? (
        <NoteDialog
          chosen={writing}
          trouble={trouble}
          onClose={() => {
            setWriting(null)
            setTrouble(null)
          }}
          onSave={(note) => {
            void saveNote(writing, note).then((saved) => {
              if (saved) setWriting(null)
            })
          }}
        />
      ) : null}
    </div>
  )
}

interface DialogGiven {
  chosen: Chosen
  trouble: { message: string; hint: string } | null
  onClose: () => void
  onSave: (note: string) => void
}

function NoteDialog({ chosen, trouble, onClose, onSave }: DialogGiven) {
  const t = useWords()
  const [note, setNote] = useState('')
  return (
    <Dialog title={t('reader.note')} onClose={onClose}>
      <form
        className="note-form"
        onSubmit={(event) => {
          event.preventDefault()
          onSave(note.trim())
        }}
      >
        <blockquote>{chosen.text}</blockquote>
        <textarea
          className="field"
          rows={4}
          autoFocus
          value={note}
          aria-label={t('reader.note')}
          onChange={(event) => setNote(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
          }}
        />
        {trouble ? <Trouble error={trouble} /> : null}
        <button className="button primary">{t('common.save')}</button>
      </form>
    </Dialog>
  )
}
