/** Where one was in the library: what was asked, which paper, and how far down; for the way back from a paper. */
import { href } from '../app/route'

interface Kept {
  id: string
  query: string
  top: number
  count: number
}

const nowhere: Kept = { id: '', query: '', top: 0, count: 0 }
let kept = nowhere

export function keep(place: Kept): void {
  kept = place
}

/** How far down one was in the list that the query stands for. */
export function placeIn(query: string): Pick<Kept, 'top' | 'count'> {
  return kept.query === query ? kept : nowhere
}

/** Where a bare address leads back to; nothing where it says all there is to say. */
export function wayBack(id: string): string {
  if (!kept.query && (id || !kept.id)) return ''
  return href('library', id || kept.id, Object.fromEntries(new URLSearchParams(kept.query)))
}

export function forgetPlace(): void {
  kept = nowhere
}
