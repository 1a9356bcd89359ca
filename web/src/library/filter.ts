/** Which papers are shown, and in which order. */
import type { Paper, PaperState } from '../api/shapes'
import { lastName } from '../ui/format'

export interface Filters {
  text: string
  author: string
  /** `2019`, `2019-2024`, `2019-`, `-2010`. */
  years: string
  state: PaperState | ''
}

export const noFilters: Filters = { text: '', author: '', years: '', state: '' }

export type SortKey = 'title' | 'author' | 'year' | 'state' | 'pages' | 'added'

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

/** Read a run of years; what cannot be read (yet) lets everything through. */
export function yearRange(text: string): [number, number] {
  const one = /^\s*(\d{4})\s*$/.exec(text)
  if (one) return [Number(one[1]), Number(one[1])]
  const run = /^\s*(\d{4})?\s*[-–]\s*(\d{4})?\s*$/.exec(text)
  return [Number(run?.[1] ?? 0), Number(run?.[2] ?? 9999)]
}

export function matching(papers: readonly Paper[], filters: Filters): Paper[] {
  const words = folded(filters.text).split(/\s+/).filter(Boolean)
  const author = folded(filters.author.trim())
  const [from, to] = yearRange(filters.years)
  const anyYear = from === 0 && to === 9999
  return papers.filter((paper) => {
    if (filters.state && paper.state !== filters.state) return false
    if (!anyYear && (paper.year === null || paper.year < from || paper.year > to)) return false
    if (author && !paper.authors.some((name) => folded(name).includes(author))) return false
    if (!words.length) return true
    const names = [paper.title, paper.bibcode, paper.arxiv_id, paper.doi, paper.cite_key, paper.label, paper.journal]
    const all = folded([...names, ...paper.authors, paper.abstract].join('\n'))
    return words.every((word) => all.includes(word))
  })
}

const keys: Record<SortKey, (paper: Paper) => string | number> = {
  title: (paper) => folded(paper.title),
  author: (paper) => folded(lastName(paper.authors[0] ?? '\uffff')),
  year: (paper) => paper.year ?? 0,
  state: (paper) => paper.state,
  pages: (paper) => paper.pages ?? 0,
  added: (paper) => paper.added_at,
}

export function sorted(papers: readonly Paper[], key: SortKey, down: boolean): Paper[] {
  const of = keys[key]
  const order = (one: Paper, other: Paper) => {
    const [a, b] = [of(one), of(other)]
    return a < b ? -1 : a > b ? 1 : 0
  }
  return [...papers].sort((one, other) => (down ? order(other, one) : order(one, other)))
}

export function countBy<T, K>(list: readonly T[], of: (one: T) => K): Map<K, number> {
  const counts = new Map<K, number>()
  for (const one of list) counts.set(of(one), (counts.get(of(one)) ?? 0) + 1)
  return counts
}
