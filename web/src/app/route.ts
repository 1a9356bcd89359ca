/** Places of the application, kept behind the `#`: any server that gives the page can give them all. */
import { useSyncExternalStore } from 'react'

export interface Route {
  page: string
  /** What follows the page's name: a session, a paper. */
  id: string
  query: URLSearchParams
}

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', id = ''] = path.split('/')
  return { page: page || 'research', id: decode(id), query: new URLSearchParams(query) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function href(page: string, id = '', query: Record<string, string | number | null | undefined> = {}): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') words.set(name, String(value))
  }
  const tail = words.toString()
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ''}${tail ? `?${tail}` : ''}`
}

export function go(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, '', to)
    window.dispatchEvent(new HashChangeEvent('hashchange'))
  } else {
    location.hash = to
  }
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return parse(hash)
}
