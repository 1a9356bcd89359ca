/** The PDF itself: pages are drawn when they come near, with their text over them for selection. */
import { Minus, Plus } from 'lucide-react'
import type { PDFDocumentProxy, TextLayer } from 'pdfjs-dist'
import { type Ref, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react'
import { inLayer, markRun } from './pdfMarks'
import { IconButton, Trouble } from '../ui/parts'
import { useWords } from '../words'
import { openPdf } from './pdf'

export interface PdfControl {
  toPage: (page: number) => void
}

interface Given {
  bytes: ArrayBuffer
  /** Quotes to mark, by page; null: on whichever page they stand. */
  marks: readonly { id: string; text: string; page: number | null }[]
  control: Ref<PdfControl>
  start: number
  onPage: (page: number) => void
  /** Told whether the quote was found once its page is drawn. */
  onFound: (found: boolean) => void
}

export function PdfPane({ bytes, marks, control, start, onPage, onFound }: Given) {
  const t = useWords()
  const frame = useRef<HTMLDivElement>(null)
  const [pdf, setPdf] = useState<{ document: PDFDocumentProxy; ratio: number; width: number } | null>(null)
  const [trouble, setTrouble] = useState('')
  const [zoom, setZoom] = useState(1)
  const width = useWidth(frame)
  const scale = pdf && width ? (Math.max(200, width - 32) / pdf.width) * zoom : 0

  useEffect(() => {
    let wanted = true
    const opening = openPdf(bytes)
    opening.then(
      async (document) => {
        const { width: pageWidth, height } = (await document.getPage(1)).getViewport({ scale: 1 })
        if (wanted) setPdf({ document, ratio: height / pageWidth, width: pageWidth })
      },
      (error: unknown) => {
        if (wanted) setTrouble(error instanceof Error ? error.message : String(error))
      },
    ).catch((error: unknown) => setTrouble(String(error)))
    return () => {
      wanted = false
      void opening.then((document) => document.loadingTask.destroy()).catch(() => undefined)
    }
  }, [bytes])

  // A page stays the page that is read, however large it is drawn.
  const place = useRef(0)
  useLayoutEffect(() => {
    const node = frame.current
    if (node && scale) node.scrollTop = place.current * node.scrollHeight
  }, [scale])

  const toPage = (page: number) => frame.current?.querySelector(`[data-page="${page}"]`)?.scrollIntoView({ block: 'start' })
  useImperativeHandle(control, () => ({ toPage }))
  useLayoutEffect(() => {
    if (pdf && start > 1) toPage(start)
  }, [pdf, start])

  const onScroll = () => {
    const node = frame.current
    if (!node || !pdf) return
    place.current = node.scrollTop / Math.max(1, node.scrollHeight)
    const pages = [...node.querySelectorAll<HTMLElement>('[data-page]')]
    const middle = node.scrollTop + node.clientHeight / 3
    const seen = pages.findLast((page) => page.offsetTop <= middle)
    if (seen) onPage(Number(seen.dataset.page))
  }
  // The page of a quote comes first; once its text is there, the quote itself, and only once.
  const seen = useRef('')
  const onQuote = useCallback((text: string, run: HTMLElement | undefined) => {
    const node = frame.current
    if (!node || seen.current === text) return
    onFound(run !== undefined)
    if (!run) return
    seen.current = text
    node.scrollTop += run.getBoundingClientRect().top - node.getBoundingClientRect().top - node.clientHeight / 3
  }, [onFound])
  return (
    <div className="pdf-frame">
      <div className="pdf-pane" ref={frame} onScroll={onScroll} tabIndex={0} aria-label="PDF" role="region">
        {trouble ? <Trouble error={{ message: t('reader.noPdf'), hint: trouble }} /> : null}
        {pdf && scale
          ? Array.from({ length: pdf.document.numPages }, (_, index) => (
              <PdfPage
                key={index}
                document={pdf.document}
                page={index + 1}
                scale={scale}
                size={{ width: pdf.width * scale, height: pdf.width * pdf.ratio * scale }}
                frame={frame}
                marks={marks}
                onQuote={onQuote}
              />
            ))
          : null}
      </div>
      <div className="pdf-zoom">
        <IconButton icon={Minus} label={t('reader.smaller')} onClick={() => setZoom((last) => Math.max(0.5, last / 1.2))} />
        <IconButton icon={Plus} label={t('reader.larger')} onClick={() => setZoom((last) => Math.min(4, last * 1.2))} />
      </div>
    </div>
  )
}

function useWidth(frame: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const node = frame.current
    if (!node) return
    const watch = new ResizeObserver(() => setWidth(node.clientWidth))
    watch.observe(node)
    setWidth(node.clientWidth)
    return () => watch.disconnect()
  }, [frame])
  return width
}

interface PageGiven {
  document: PDFDocumentProxy
  page: number
  scale: number
  size: { width: number; height: number }
  frame: React.RefObject<HTMLDivElement | null>
  marks: Given['marks']
  onQuote: (text: string, run: HTMLElement | undefined) => void
}

function PdfPage({ document, page, scale, size, frame, marks, onQuote }: PageGiven) {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const text = useRef<HTMLDivElement>(null)
  const [near, setNear] = useState(false)
  const [drawn, setDrawn] = useState(0)

  useEffect(() => {
    const node = place.current
    if (!node) return
    const watch = new IntersectionObserver((seen) => setNear(seen.some((one) => one.isIntersecting)), {
      root: frame.current,
      rootMargin: '900px 0px',
    })
    watch.observe(node)
    return () => watch.disconnect()
  }, [frame])

  useEffect(() => {
    const ground = canvas.current
    const words = text.current
    if (!near || !ground || !words) return
    const left = new AbortController()
    const wanted = () => !left.signal.aborted
    const undo: (() => void)[] = []
    const draw = async () => {
      const proxy = await document.getPage(page)
      if (!wanted()) return
      const sharp = window.devicePixelRatio || 1
      const viewport = proxy.getViewport({ scale: scale * sharp })
      ground.width = Math.floor(viewport.width)
      ground.height = Math.floor(viewport.height)
      const rendering = proxy.render({ canvas: ground, viewport })
      undo.push(() => rendering.cancel())
      await rendering.promise
      const { TextLayer: Layer } = await import('pdfjs-dist')
      words.replaceChildren()
      const layer: TextLayer = new Layer({
        textContentSource: proxy.streamTextContent(),
        container: words,
        viewport: proxy.getViewport({ scale }),
      })
      undo.push(() => layer.cancel())
      await layer.render()
      if (wanted()) setDrawn((count) => count + 1)
    }
    // A page that scrolled away is cancelled; nobody waits for it.
    draw().catch(() => undefined)
    return () => {
      left.abort()
      undo.forEach((stop) => stop())
      ground.width = 0
      words.replaceChildren()
    }
  }, [document, page, scale, near])

  useEffect(() => {
    if (!drawn || !text.current) return
    const spans = [...text.current.querySelectorAll<HTMLElement>('span:not(.markedContent)')]
    const texts = spans.map((span) => span.textContent)
    const undo: (() => void)[] = []
    for (const mark of marks) {
      if (mark.page !== null && Math.abs(mark.page - page) > 1) continue
      const found = inLayer(texts, mark.text)
      for (const [index, span] of found) {
        const node = spans[index]
        if (node) undo.push(markRun(node, span))
      }
      const [first] = found.keys()
      const run = first === undefined ? undefined : spans[first]
      if (mark.id === 'quote' && (run || mark.page === page)) onQuote(mark.text, run)
    }
    return () => undo.forEach((unmark) => unmark())
  }, [drawn, marks, page, onQuote])

  return (
    <div
      ref={place}
      className="pdf-page"
      data-page={page}
      style={{ width: size.width, height: size.height, ['--total-scale-factor' as string]: scale }}
    >
      <canvas ref={canvas} />
      <div ref={text} className="textLayer" />
    </div>
  )
}
