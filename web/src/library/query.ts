/** Which papers are asked for, and in which order: the server filters, orders and counts. */
import { paperStates, type PaperState } from '../api/shapes'

export const facetKinds = ['year', 'author', 'journal', 'tag', 'state'] as const
export type FacetKind = (typeof facetKinds)[number]

export interface Filters {
  q: string
  /** `2019`, `2019-2024`, `2019-`, `-2010`. */
  year: string
  author: string
  journal: string
  tag: string
  state: PaperState | ''
}

export const noFilters: Filters = { q: '', year: '', author: '', journal: '', tag: '', state: '' }

export function isFiltered(filters: Filters): boolean {
  return Object.values(filters).some(Boolean)
}

export type SortKey = 'title' | 'author' | 'year' | 'journal' | 'state' | 'notes' | 'added'

export interface Sort {
  key: SortKey
  down: boolean
}

/** The next order when a column's head is pressed: names begin at A, all else with the most or newest. */
export function sortedBy(key: SortKey, before: Sort): Sort {
  if (key === before.key) return { key, down: !before.down }
  return { key, down: key === 'added' || key === 'year' || key === 'notes' }
}

const sortKeys: readonly SortKey[] = ['title', 'author', 'year', 'journal', 'state', 'notes', 'added']
export const firstSort: Sort = { key: 'added', down: true }

/** What an address asks for; what it says that is not known here is passed over. */
export function filtersIn(query: URLSearchParams): Filters {
  const said = (name: string) => query.get(name) ?? ''
  const state = paperStates.find((one) => one === said('state')) ?? ''
  return { q: said('q').trim(), year: yearsIn(said('year')), author: said('author'), journal: said('journal'), tag: said('tag'), state }
}

export function sortIn(query: URLSearchParams): Sort {
  const said = query.get('sort') ?? ''
  const key = sortKeys.find((one) => one === said.replace(/^-/, ''))
  return key ? { key, down: said.startsWith('-') } : firstSort
}

export function sortName({ key, down }: Sort): string {
  return `${down ? '-' : ''}${key}`
}

/** What an address says of filters and order: nothing of what is so anyway. */
export function asQuery(filters: Filters, sort: Sort): Record<string, string> {
  const order = sortName(sort)
  return { ...filters, sort: order === sortName(firstSort) ? '' : order }
}

/** A year or a run of years as the server reads it; nothing where it makes no sense (yet). */
export function yearsIn(text: string): string {
  const plain = text.trim().replace(/\s*[-‐-―−]\s*/, '-')
  return /^(?:\d{4}|\d{4}-(?:\d{4})?|-\d{4})$/.test(plain) ? plain : ''
}
