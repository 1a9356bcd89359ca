/** A paper's Markdown by its pages, and quotes by the pages they stand on. */
import { skeleton } from '../markdown/marks'

export interface Chunk {
  /** 1-based page, or null where the format has none. */
  page: number | null
  text: string
}

/** Cut at the page lines of the stored Markdown; long texts without pages at their headings. */
export function chunksOf(markdown: string): Chunk[] {
  const parts = markdown.split(/^<!-- page (\d+) -->[ \t]*$/m)
  const chunks: Chunk[] = []
  const push = (page: number | null, text: string) => {
    if (text.trim()) chunks.push({ page, text: text.trim() })
  }
  if (parts.length === 1) {
    for (const part of markdown.split(/^(?=#{1,3} )/m)) push(null, part)
    return chunks
  }
  push(null, parts[0] ?? '')
  for (let place = 1; place < parts.length; place += 2) push(Number(parts[place]), parts[place + 1] ?? '')
  return chunks
}

export interface Placed {
  id: string
  kind: 'quote' | 'note'
  text: string
}

/** Which part of each quote stands in which chunk: a sentence may run over a page's end. */
export function placeQuotes(chunks: readonly Chunk[], quotes: readonly Placed[]): Map<number, Placed[]> {
  const skeletons = chunks.map((chunk) => skeleton(chunk.text))
  const all = skeletons.join('')
  const placed = new Map<number, Placed[]>()
  for (const quote of quotes) {
    const wanted = skeleton(quote.text)
    const start = wanted ? findQuote(all, wanted) : -1
    if (start < 0) continue
    const end = start + wanted.length
    let at = 0
    skeletons.forEach((text, index) => {
      const from = Math.max(start - at, 0)
      const to = Math.min(end - at, text.length)
      if (to > from) placed.set(index, [...(placed.get(index) ?? []), { ...quote, text: text.slice(from, to) }])
      at += text.length
    })
  }
  return placed
}

const ENOUGH = 60

function findQuote(all: string, wanted: string): number {
  const whole = all.indexOf(wanted)
  return whole >= 0 || wanted.length < ENOUGH * 2 ? whole : all.indexOf(wanted.slice(0, ENOUGH))
}
