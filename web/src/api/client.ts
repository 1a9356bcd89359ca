/** The one door to the API: JSON in and out, errors with their hint, never another host. */
import { getPrefs } from '../ui/prefs'
import { translator } from '../words'

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

/** Relative to the page, so that it also works below a path; the cookie is the key. */
export function apiUrl(path: string): string {
  return new URL(`api${path}`, document.baseURI).toString()
}

type Query = Record<string, string | number | boolean | null | undefined>

export function withQuery(path: string, query: Query): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') words.set(name, String(value))
  }
  const text = words.toString()
  return text ? `${path}?${text}` : path
}

const words = () => translator(getPrefs().language)

async function failure(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as { error?: { code?: string; message?: string; hint?: string } }
    if (body.error?.message) {
      return new ApiError(response.status, body.error.code ?? '', body.error.message, body.error.hint ?? '')
    }
  } catch {
    // No JSON: a proxy's page, or a cut answer. The status says what there is to say.
  }
  const status = `${response.status} ${response.statusText}`.trim()
  return new ApiError(response.status, 'http', words()('server.answered', { status }), '')
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(apiUrl(path), { credentials: 'same-origin', ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'unreachable', words()('server.silent'), words()('server.silentHint'))
  }
  if (!response.ok) throw await failure(response)
  return response
}

async function json<T>(path: string, method: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method }
  if (signal) init.signal = signal
  if (body !== undefined) {
    init.body = JSON.stringify(body)
    init.headers = { 'Content-Type': 'application/json' }
  }
  const response = await send(path, init)
  return (response.status === 204 ? undefined : await response.json()) as T
}

export const api = {
  get: <T>(path: string, signal?: AbortSignal) => json<T>(path, 'GET', undefined, signal),
  post: <T>(path: string, body: unknown = {}) => json<T>(path, 'POST', body),
  put: <T>(path: string, body: unknown) => json<T>(path, 'PUT', body),
  patch: <T>(path: string, body: unknown) => json<T>(path, 'PATCH', body),
  delete: (path: string) => json<undefined>(path, 'DELETE'),
  text: async (path: string) => (await send(path, { method: 'GET' })).text(),
  bytes: async (path: string) => {
    const response = await send(path, { method: 'GET' })
    return { bytes: await response.arrayBuffer(), type: response.headers.get('Content-Type') ?? '' }
  },
  /** Bytes as they are: a form could be sent by a foreign page, this could not. */
  upload: async <T>(path: string, file: Blob) => {
    const headers = { 'Content-Type': 'application/octet-stream' }
    return (await (await send(path, { method: 'PUT', body: file, headers })).json()) as T
  },
}
