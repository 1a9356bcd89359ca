/** What a GET answers, kept while it is asked again. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { api, ApiError } from './client'

export interface Loaded<T> {
  data: T | undefined
  error: ApiError | undefined
  loading: boolean
  reload: () => void
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, 'page', String(error), '')
}

/** Load `path` (null: nothing), and again every `everyMs` while the page is looked at. */
export function useLoaded<T>(path: string | null, everyMs = 0): Loaded<T> {
  const [state, setState] = useState<{ path: string | null; data?: T; error?: ApiError }>({ path: null })
  const [round, setRound] = useState(0)
  const busy = useRef(false)
  const reload = useCallback(() => setRound((last) => last + 1), [])

  useEffect(() => {
    if (path === null) return
    const abort = new AbortController()
    busy.current = true
    api.get<T>(path, abort.signal).then(
      (data) => {
        busy.current = false
        setState({ path, data })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        busy.current = false
        setState((last) => ({ ...(last.path === path ? last : {}), path, error: asApiError(error) }))
      },
    )
    return () => abort.abort()
  }, [path, round])

  useEffect(() => {
    if (!everyMs || path === null) return
    const timer = setInterval(() => {
      if (!document.hidden && !busy.current) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, path, reload])

  const current = state.path === path ? state : undefined
  return { data: current?.data, error: current?.error, loading: path !== null && !current, reload }
}
