/** A paper's text, page by page, with its notes and quotes marked where they stand. */
import { memo, type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, type ReactNode } from 'react'
import type { Reference } from '../api/shapes'
import { Markdown } from '../markdown/Markdown'
import type { Spans } from '../markdown/marks'
import { useWords } from '../words'
import { type Chunk, chunksOf, placeQuotes, type Placed } from './chunks'
import { finder } from './citing'
import { CitedHere } from './References'

export interface PaneControl {
  toPage: (page: number) => void
  toMark: (id: string) => boolean
  toHeading: (index: number) => void
}

interface Given {
  markdown: string
  marks: readonly Placed[]
  /** What the paper cites: the places that cite are found in the text. */
  works: readonly Reference[]
  onWork: (number: number) => void
  control: Ref<PaneControl>
  onPage: (page: number) => void
  onMark: (id: string) => void
  onPlace: (ratio: number) => void
  /** Where to begin, as a share of the height; null: somewhere else. */
  start: number | null
  /** The panes have their widths: places in the text mean something. */
  settled: boolean
}

export function TextPane({ markdown, marks, works, onWork, control, onPage, onMark, onPlace, start, settled }: Given) {
  const t = useWords()
  const frame = useRef<HTMLDivElement>(null)
  const chunks = useMemo(() => chunksOf(markdown), [markdown])
  const placed = useMemo(() => placeQuotes(chunks, marks), [chunks, marks])
  const mentions = useMemo(() => {
    const find = works.length ? finder(works) : null
    return find ? (text: string) => find(text).map((one) => ({ ...one, name: one.works.join() })) : undefined
  }, [works])
  const mention = useCallback(
    (name: string, children: ReactNode) => {
      const here = name.split(',').flatMap((number) => works[Number(number) - 1] ?? [])
      return (
        <CitedHere works={here} onChoose={onWork}>
          {children}
        </CitedHere>
      )
    },
    [works, onWork],
  )
  const pick = (selector: string) => frame.current?.querySelector(selector)

  useImperativeHandle(control, () => ({
    toPage: (page) => pick(`[data-page="${page}"]`)?.scrollIntoView({ block: 'start' }),
    toMark: (id) => {
      const node = pick(`mark[data-mark="${CSS.escape(id)}"]`)
      node?.scrollIntoView({ block: 'center' })
      return node !== null && node !== undefined
    },
    toHeading: (index) => {
      const heading = frame.current?.querySelectorAll('h1, h2, h3, h4, h5, h6')[index]
      heading?.scrollIntoView({ block: 'start' })
    },
  }))

  useEffect(() => {
    const node = frame.current
    if (node && settled && start !== null) node.scrollTop = start * node.scrollHeight
  }, [start, settled])

  const onScroll = () => {
    const node = frame.current
    if (node && settled) onPlace(node.scrollTop / Math.max(1, node.scrollHeight))
  }
  return (
    <div className="text-pane" ref={frame} onScroll={onScroll} tabIndex={0} aria-label={t('reader.text')} role="region">
      {chunks.map((chunk, index) => (
        <Page key={index} chunk={chunk} marks={placed.get(index) ?? none} mentions={mentions} mention={mention} onPage={onPage} onMark={onMark} />
      ))}
    </div>
  )
}

const none: readonly Placed[] = []

interface PageGiven {
  chunk: Chunk
  marks: readonly Placed[]
  mentions: Spans | undefined
  mention: (name: string, children: ReactNode) => ReactNode
  onPage: (page: number) => void
  onMark: (id: string) => void
}

const Page = memo(function Page({ chunk, marks, mentions, mention, onPage, onMark }: PageGiven) {
  const t = useWords()
  const { page } = chunk
  const mark = useCallback(
    (id: string, kind: string, _ends: boolean, children: ReactNode) => (
      <mark data-mark={id} data-kind={kind} onClick={() => onMark(id)}>
        {children}
      </mark>
    ),
    [onMark],
  )
  return (
    <section className="text-page" data-page={page ?? undefined}>
      {page ? (
        <button className="page-anchor" onClick={() => onPage(page)} title={t('reader.toPdfPage', { page })}>
          {t('cite.page', { page })}
        </button>
      ) : null}
      <Markdown text={chunk.text} marks={marks} mark={mark} mentions={mentions} mention={mention} />
    </section>
  )
})
