/** Every page over a small server: it shows what it is for, and axe finds nothing serious. */
import { act, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { axe } from '../test/axe'
import { conversation } from '../test/recorded'
import { setPrefs } from '../ui/prefs'
import { App } from './App'

const usage = { input_tokens: 5000, output_tokens: 300, cached_tokens: 1000, reasoning_tokens: 0, cost_usd: 0.02 }
const session = { id: 's1', title: 'Hyades', created_at: new Date().toISOString(), status: 'completed', mode: 'ask', model: 'm', enable_thinking: false, summary: '', usage }
const paper = {
  paper_id: 'k3f2a9c1', title: 'The age of H<sub>2</sub>', authors: ['Ruiz, E.', 'Ito, S.'], year: 2024, bibcode: null, arxiv_id: '2401.00001', doi: null,
  abstract: 'We find $x$.', cite_key: 'Ruiz2024', state: 'indexed', files: [], pages: 9, language: 'en', label: '', confidential: false, added_at: '2026-01-02T00:00:00Z',
  journal: 'ApJ', tags: ['ages'], notes: 1,
}
const answers: Record<string, unknown> = {
  '/sessions': { sessions: [session], next_cursor: null },
  '/sessions/s1': session,
  '/settings': { model: 'm', models: ['m', 'n'], mode: 'ask', enable_thinking: false, context_tokens: 10_000 },
  '/pending': { pending: [] },
  '/papers': { papers: [paper], total: 1, next_cursor: null },
  '/papers/k3f2a9c1': { ...paper, engine: 'pdfium/1', verdict: 'pages without text: 3' },
  '/papers/facets': { values: [{ value: 'ages', count: 1 }] },
  '/papers/k3f2a9c1/content': { paper_id: 'k3f2a9c1', content: '<!-- page 1 -->\n# Title\n\nThe age is\n\n<!-- page 2 -->\n\n40 Myr here.', engine: 'e', verdict: 'page 3 holds no text', sections: [{ path: 'Title', title: 'Title', page: 1 }] },
  '/papers/k3f2a9c1/notes': { notes: [{ id: 1, paper_id: 'k3f2a9c1', quote: '40 Myr', note: 'Young.', page: 2, color: 'yellow', created_at: '', agent: 'user' }] },
  '/tasks': { tasks: [{ id: 't', kind: 'add', what: '2401.00002', state: 'failed', progress: '', fraction: 1, created_at: '', finished_at: '', papers: [], failures: [{ what: 'x', error_kind: 'upstream', reason: 'Turned away.', hint: 'Later.' }] }] },
  '/permissions': { rules: [{ id: 3, pattern: 'run_bash(ls *)', decision: 'allow', session_id: '', source: 'user', created_at: '2026-01-02T00:00:00Z' }] },
  '/audit': { rows: [{ id: 1, session_id: 's1', seq: 2, turn_id: 't', agent: 'main', time: '2026-01-02T00:00:00Z', type: 'tool_result', tool: 'rag_search', tool_call_id: 'a', outcome: 'ok', event_sha256: '0', chain_sha256: 'abcdef0123' }] },
  '/audit/verify': { sound: false, wrong: ['row 7: changed'] },
  '/metrics': {
    session_id: '', turns: { completed: 2 }, model_calls: 4, usage, errors: {},
    tools: [{ name: 'rag_search', runs: 3, errors: 1, open: 0, total_ms: 900, median_ms: 300, p95_ms: 800, longest_ms: 900 }],
    days: [{ day: '2026-01-01', model_calls: 1, usage }, { day: '2026-01-02', model_calls: 3, usage }],
  },
  '/health': { status: 'ok', version: '9.9.9' },
  '/doctor': { findings: [{ name: 'pdf', state: 'failed', text: 'no OCR', mend: 'pip install it' }] },
  '/targets': { asked: 'M 1', name: 'M 1', kind: 'object', ra_deg: 83.6287, dec_deg: 22.0147, frame: 'ICRS', epoch: 'J2000', error_arcsec: null, object_type: 'SNR', type_text: '', resolver: 'SIMBAD', aliases: [], pm: null, parallax_mas: null, velocity_km_s: null, redshift: null, magnitudes: {}, measured: {}, spectral_type: '', references: 1, cached_at: null, notes: [] },
  '/rag': { passages: [] },
}
const asked: string[] = []

beforeEach(() => {
  asked.length = 0
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  // A page without layout has no room; the lists are told of some.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(800)
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(900)
  Element.prototype.scrollIntoView = () => undefined
  Element.prototype.scrollTo = () => undefined
  vi.stubGlobal('ResizeObserver', class { observe = () => undefined; unobserve = () => undefined; disconnect = () => undefined })
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
    const { pathname, origin } = new URL(url)
    expect(origin).toBe(location.origin)
    asked.push(`${init?.method ?? 'GET'} ${pathname}`)
    if (pathname.endsWith('/events')) {
      const body = new ReadableStream<Uint8Array>({
        start: (out) => out.enqueue(new TextEncoder().encode(conversation.map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`).join(''))),
      })
      return Promise.resolve(new Response(body))
    }
    const answer = answers[pathname.replace('/api', '')]
    return Promise.resolve(answer ? Response.json(answer) : Response.json({ error: { code: 'not_found', message: 'Nothing there.', hint: '' } }, { status: 404 }))
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  setPrefs({ language: 'en' })
  localStorage.clear()
})

async function open(hash: string): Promise<HTMLElement> {
  location.hash = hash
  const { container } = render(<App />)
  await act(() => new Promise((resolve) => setTimeout(resolve, 250)))
  return container
}

const pages: [string, RegExp[]][] = [
  ['#/research', [/Ask the literature/]],
  ['#/research/s1', [/Why\?/, /Worked/, /^So\.$/]],
  ['#/library', [/Ruiz \+1/, /ApJ/, /ages/, /Turned away\./, /1 failed/]],
  ['#/library/k3f2a9c1', [/Ruiz2024/, /Copy BibTeX/, /Pages that hold no text: 3/]],
  ['#/reader', [/Nothing read yet/]],
  ['#/reader/k3f2a9c1', [/page 3 holds no text/, /Young\./, /^The age is$/]],
  ['#/targets?name=M%201', [/05h 34m 30\.89s/, /No paper of the library mentions it/]],
  ['#/metrics', [/5\.3k/, /\$0\.02/]],
  ['#/audit', [/row 7: changed/, /abcdef01/]],
  ['#/permissions', [/run_bash\(ls \*\)/]],
  ['#/settings', [/no OCR/, /9\.9\.9/]],
]

describe.each(pages)('%s', (hash, texts) => {
  test('shows what it is for, in both languages, and axe finds nothing serious', async () => {
    const container = await open(hash)
    for (const text of texts) expect(screen.getAllByText(text).length, String(text)).toBeGreaterThan(0)
    expect(await axe(container)).toEqual([])
    act(() => setPrefs({ language: 'zh' }))
    expect(document.documentElement.lang).toBe('zh-Hans')
    expect(screen.getAllByText('文献库').length).toBeGreaterThan(0)
  })
})

test('a page that cannot be loaded says so where it happened and leaves the rest', async () => {
  await open('#/reader/zzzzzzzz')
  expect(screen.getAllByRole('alert')[0]?.textContent).toContain('Nothing there.')
  expect(screen.getByText('Settings')).toBeTruthy()
})

test('a quote that runs over the end of a page is marked on both', async () => {
  const container = await open('#/reader/k3f2a9c1?page=1&quote=The+age+is+40+Myr')
  const marked = [...container.querySelectorAll('mark[data-mark="quote"]')].map((node) => node.textContent)
  expect(marked.join(' ')).toMatch(/^The age is 40 Myr/)
})

test('a new question makes a session, sends the wishes and opens it', async () => {
  await open('#/research')
  fireEvent.click(screen.getByRole('switch'))
  const field = screen.getByLabelText('Ask…')
  fireEvent.change(field, { target: { value: 'Why?' } })
  answers['/sessions/s1/turns'] = { turn_id: 't1' }
  const before = answers['/sessions']
  answers['/sessions'] = { ...session, sessions: [session] }
  fireEvent.keyDown(field, { key: 'Enter' })
  await act(() => new Promise((resolve) => setTimeout(resolve, 150)))
  answers['/sessions'] = before
  expect(asked).toContain('POST /api/sessions/s1/turns')
  expect(location.hash).toBe('#/research/s1')
})

test('keys lead to places: g and a number', async () => {
  await open('#/research')
  ;(document.activeElement as HTMLElement | null)?.blur()
  fireEvent.keyDown(document.body, { key: 'g' })
  fireEvent.keyDown(document.body, { key: '8' })
  expect(location.hash).toBe('#/settings')
})

test('what "More" shows goes with Escape and with a touch beside it', async () => {
  const container = await open('#/library')
  const rail = container.querySelector('.rail') as HTMLElement
  const more = screen.getByRole('button', { name: 'More' })
  fireEvent.click(more)
  expect(rail.dataset.more).toBe('true')
  fireEvent.keyDown(document.body, { key: 'Escape' })
  expect(rail.dataset.more).toBe('false')
  expect(document.activeElement).toBe(more)
  fireEvent.click(more)
  fireEvent.pointerDown(rail)
  expect(rail.dataset.more).toBe('true')
  fireEvent.pointerDown(container.querySelector('#main') as HTMLElement)
  expect(rail.dataset.more).toBe('false')
})

test('a server that is silent is told in the language of the page', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no way')))
  setPrefs({ language: 'zh' })
  await open('#/metrics')
  expect(screen.getByRole('alert').textContent).toContain('服务器没有响应。')
})
