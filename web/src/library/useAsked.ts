/** What the library is asked for stands in its address: the browser's Back finds it again, and a link shows the same. */
import { useEffect, useRef, useState } from 'react'
import { go, href, parse, type Route } from '../app/route'
import { asQuery, type Filters, filtersIn, type Sort, sortIn } from './query'

interface Asked {
  /** As the fields show them. */
  filters: Filters
  /** As the server is asked: words once typing rests, for a request for each letter would be too many. */
  wanted: Filters
  sort: Sort
  setFilters: (next: Filters) => void
  setSort: (next: Sort) => void
  /** The address of a paper's panel beside the same list; empty: of the list alone. */
  at: (id: string) => string
}

const REST_MS = 200

export function useAsked(route: Route): Asked {
  const wanted = filtersIn(route.query)
  const sort = sortIn(route.query)
  const [typed, setTyped] = useState({ text: '', waits: false })
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  // What was typed is shown with its spaces, until another hand changes the address.
  const filters = typed.waits || typed.text.trim() === wanted.q ? { ...wanted, q: typed.text } : wanted

  const setFilters = (next: Filters) => {
    clearTimeout(timer.current)
    const words = next.q.trim()
    const wordsOnly = Object.entries(next).every(([kind, value]) => kind === 'q' || value === wanted[kind as keyof Filters])
    if (!wordsOnly) {
      setTyped({ text: next.q, waits: false })
      go(href('library', route.id, asQuery({ ...next, q: words }, sort)), true)
      return
    }
    setTyped({ text: next.q, waits: true })
    timer.current = window.setTimeout(() => {
      const now = parse(location.hash)
      setTyped({ text: next.q, waits: false })
      go(href('library', now.id, asQuery({ ...filtersIn(now.query), q: words }, sortIn(now.query))), true)
    }, REST_MS)
  }
  return {
    filters,
    wanted,
    sort,
    setFilters,
    setSort: (next) => go(href('library', route.id, asQuery(wanted, next)), true),
    at: (id) => href('library', id, asQuery(wanted, sort)),
  }
}

/** Escape closes what is open, unless it ends something nearer: a dialogue, a tray, words in a field. */
export function useEscape(close: (() => void) | null): void {
  useEffect(() => {
    if (!close) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return
      if (document.querySelector('dialog[open]')) return
      const { target } = event
      if ((target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) && target.value) return
      close()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [close])
}
