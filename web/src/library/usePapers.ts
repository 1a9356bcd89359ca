/** The papers that fit, page after page as far as one has scrolled. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { api, type ApiError, withQuery } from '../api/client'
import type { Paper } from '../api/shapes'
import { asApiError } from '../api/useLoaded'
import { type Filters, type Sort, sortName } from './query'

const FIRST = 200
const MOST = 1000

interface Page {
  papers: Paper[]
  total: number
  next_cursor: string | null
}

export interface Papers {
  /** What is shown until the next answer is here; undefined before the first. */
  papers: readonly Paper[] | undefined
  total: number
  error: ApiError | undefined
  reload: () => void
  more: () => void
  /** Show a paper as it is now, in its place. */
  put: (paper: Paper) => void
}

/** `count`: how many there are to be at first, where one comes back to a long list. */
export function usePapers(filters: Filters, sort: Sort, count = 0): Papers {
  const path = withQuery('/papers', { ...filters, sort: sortName(sort) })
  const [page, setPage] = useState<Page & { path: string }>()
  const [error, setError] = useState<ApiError>()
  const [round, setRound] = useState(0)
  const had = useRef({ path, count })
  const busy = useRef(false)

  useEffect(() => {
    if (page) had.current = { path: page.path, count: page.papers.length }
  }, [page])

  useEffect(() => {
    const abort = new AbortController()
    // Asked again, a list stays as long as it was.
    const limit = had.current.path === path ? Math.min(MOST, Math.max(FIRST, had.current.count)) : FIRST
    api.get<Page>(`${path}&limit=${limit}`, abort.signal).then(
      (next) => {
        setPage({ ...next, path })
        setError(undefined)
      },
      (reason: unknown) => {
        if (!abort.signal.aborted) setError(asApiError(reason))
      },
    )
    return () => abort.abort()
  }, [path, round])

  const more = useCallback(() => {
    if (busy.current || page?.path !== path || !page.next_cursor) return
    busy.current = true
    api.get<Page>(`${path}&limit=${FIRST}&cursor=${encodeURIComponent(page.next_cursor)}`).then(
      (next) => {
        busy.current = false
        // Another list may have come meanwhile: what follows this one is then of no use.
        setPage((now) => (now === page ? { ...next, path, papers: [...page.papers, ...next.papers] } : now))
      },
      (reason: unknown) => {
        busy.current = false
        setError(asApiError(reason))
      },
    )
  }, [page, path])

  const put = useCallback((paper: Paper) => {
    setPage((now) => now && { ...now, papers: now.papers.map((one) => (one.paper_id === paper.paper_id ? paper : one)) })
  }, [])
  const reload = useCallback(() => setRound((last) => last + 1), [])
  return { papers: page?.papers, total: page?.total ?? 0, error, reload, more, put }
}
