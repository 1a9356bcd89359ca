/** Which papers are asked for, and in which order: the server filters, orders and counts. */
import type { PaperState } from '../api/shapes'

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

/** A year or a run of years as the server reads it; nothing where it makes no sense (yet). */
export function yearsIn(text: string): string {
  const plain = text.trim().replace(/\s*[-‐-―−]\s*/, '-')
  return /^(?:\d{4}|\d{4}-(?:\d{4})?|-\d{4})$/.test(plain) ? plain : ''
}
