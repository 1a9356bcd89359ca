/** The library over a small server: filters ask it, tags go to it, files are sent again. */
import { act, createEvent, fireEvent, render, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Paper, Task } from '../api/shapes'
import { translator } from '../words'
import { go, useRoute } from '../app/route'
import { forgetPlace } from './kept'
import { LibraryPage } from './LibraryPage'
import { sortedBy, yearsIn } from './query'
import { engineInWords, verdictInWords } from './reading'

const hostile = '<img src=x onerror=alert(1)>'
const paper = (number: number, more: Partial<Paper> = {}): Paper => ({
  paper_id: `paper${number}`, title: `Paper ${number}`, authors: ['Ruiz, E.'], year: 2024, bibcode: null, arxiv_id: null, doi: null, abstract: '', cite_key: `Ruiz${number}`, state: 'indexed',
  files: [], pages: 9, language: 'en', label: '', confidential: false, added_at: '2026-01-02T00:00:00Z', journal: 'MNRAS', tags: [], notes: 0, ...more,
})
const failed = (id: string): Task => ({
  id, kind: 'add', what: 'a.pdf', state: 'failed', progress: '', fraction: 1, created_at: '', finished_at: '', papers: [], failures: [{ what: 'a.pdf', error_kind: 'empty', reason: 'It is empty.', hint: '' }],
})
let papers: Paper[] = []
let tasks: Task[] = []
let asked: string[] = []
let sent: unknown[] = []
let refused: string[] = []

function answer(method: string, url: URL, body: unknown): unknown {
  const path = url.pathname.replace('/api', '')
  if (method === 'PATCH') {
    const { tags } = JSON.parse(body as string) as { tags: string[] }
    if (tags.some((tag) => tag.length > 64)) return undefined
    papers = papers.map((one) => (path.endsWith(one.paper_id) ? { ...one, tags: tags.map((tag) => tag.trim()) } : one))
    return papers.find((one) => path.endsWith(one.paper_id))
  }
  if (method === 'DELETE') {
    tasks = tasks.filter((task) => !path.endsWith(task.id))
    return {}
  }
  if (path === '/papers/export') return '@article{Ruiz0,}'
  if (method === 'PUT') {
    if (refused.includes(url.searchParams.get('name') ?? '')) return undefined
    const task = failed(`t${sent.length}`)
    tasks = [task]
    return task
  }
  if (path === '/tasks') return { tasks }
  if (path === '/papers/facets') return { values: [{ value: url.searchParams.get('of') === 'year' ? '2024' : hostile, count: 7 }] }
  if (path !== '/papers' && !papers.some((one) => path.endsWith(one.paper_id))) return null
  if (path !== '/papers') return { ...papers.find((one) => path.endsWith(one.paper_id)), engine: 'pdfium/1', verdict: 'pages without text: 3, 7' }
  const from = Number(url.searchParams.get('cursor') ?? 0)
  const to = from + Number(url.searchParams.get('limit'))
  return { papers: papers.slice(from, to), total: papers.length, next_cursor: to < papers.length ? String(to) : null }
}

beforeEach(() => {
  forgetPlace()
  refused = []
  asked = []
  sent = []
  tasks = []
  papers = [paper(0, { tags: ['dust', hostile], notes: 2 }), paper(1)]
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(800)
  vi.stubGlobal('ResizeObserver', class { observe = () => undefined; unobserve = () => undefined; disconnect = () => undefined })
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
    const where = new URL(url)
    const method = init?.method ?? 'GET'
    asked.push(`${method} ${where.pathname.replace('/api', '')}${decodeURIComponent(where.search)}`)
    if (init?.body) sent.push(init.body)
    const told = answer(method, where, init?.body)
    if (told === null) return Promise.resolve(Response.json({ error: { code: 'not_found', message: 'No such paper.', hint: '' } }, { status: 404 }))
    return Promise.resolve(typeof told === 'string' ? new Response(told) : told ? Response.json(told) : Response.json({ error: { code: 'usage', message: 'The tag is too long.', hint: 'At most 64.' } }, { status: 422 }))
  })
})
afterEach(() => vi.unstubAllGlobals())

const chip = (name: string) => within(document.querySelector('.filters') as HTMLElement).getByRole('button', { name })
const settle = (ms = 30) => act(() => new Promise((resolve) => setTimeout(resolve, ms)))

function Shown() {
  const route = useRoute()
  return route.page === 'library' ? <LibraryPage route={route} /> : <p>A paper</p>
}

async function open(id = '', query = ''): Promise<HTMLElement> {
  location.hash = `#/library${id && `/${id}`}${query && `?${query}`}`
  const { container } = render(<Shown />)
  await settle()
  return container
}

const goTo = async (hash: string) => {
  act(() => go(hash, true))
  await settle()
}
const texts = () => [...document.querySelectorAll('.paper-row .col-title')].map((one) => one.textContent)
const focusedTitle = () => document.activeElement?.querySelector('.col-title')?.textContent

test.each([['2019', '2019'], [' 2019 – 2024', '2019-2024'], ['2019-', '2019-'], ['-2010', '-2010'], ['20', ''], ['', ''], ['-', '']])('the years %s are asked for as %s', (text, asked) =>
  expect(yearsIn(text)).toBe(asked),
)

test('a column begins at the end that one looks for, and turns round', () => {
  const added = { key: 'added', down: true } as const
  expect(sortedBy('title', added)).toEqual({ key: 'title', down: false })
  expect(sortedBy('notes', added)).toEqual({ key: 'notes', down: true })
  expect(sortedBy('added', added)).toEqual({ key: 'added', down: false })
})

test('how a text was read is told in words of both languages', () => {
  const en = translator('en')
  expect(verdictInWords('good', en)).toBe('The whole text could be read.')
  expect(verdictInWords('pages without text: 3, 7 and 2 more; pages that could not be opened: 9', en)).toBe(
    'Pages that hold no text: 3, 7 and 2 more. Pages that could not be opened: 9.',
  )
  expect(verdictInWords('12 parts were not converted by LaTeXML', en)).toContain('12 parts')
  expect(verdictInWords('not followed: \\input', en)).toBe('Files that it includes were not read.')
  expect(verdictInWords('something new', en)).toBe('something new')
  expect(verdictInWords('pages without text: 3', translator('zh'))).toBe('没有文本的页：3。')
  expect([engineInWords('pdfium/1', en), engineInWords('mineru/2', en)]).toEqual(['The text in the PDF', 'mineru/2'])
})

test('a row tells journal, tags and notes; a tag is text whatever it says', async () => {
  const container = await open()
  const row = screen.getByText('Paper 0').closest('[role=row]') as HTMLElement
  for (const text of ['MNRAS', 'dust', hostile, '2']) expect(within(row).getByText(text)).toBeTruthy()
  expect(container.querySelector('img')).toBeNull()
})

test('a chip offers what there is; what is chosen is asked for, and taken back', async () => {
  await open()
  fireEvent.click(chip('Tag'))
  await settle()
  expect(asked.at(-1)).toBe('GET /papers/facets?of=tag')
  fireEvent.click(screen.getByRole('button', { name: `${hostile} 7` }))
  await settle()
  expect(asked.at(-1)).toBe(`GET /papers?tag=${hostile.replaceAll(' ', '+')}&sort=-added&limit=200`)
  fireEvent.click(chip('Year'))
  await settle()
  expect(asked.at(-1)).toContain('/papers/facets?tag=')
  fireEvent.change(screen.getByLabelText('Year, or 2019-2024'), { target: { value: '2019–2024' } })
  fireEvent.submit(screen.getByLabelText('Year, or 2019-2024'))
  await settle()
  expect(asked.at(-1)).toContain('year=2019-2024&tag=')
  expect(document.activeElement?.textContent).toContain('2019–2024')
  fireEvent.click(screen.getByRole('button', { name: 'Remove this filter: Tag' }))
  await settle()
  expect(asked.at(-1)).toBe('GET /papers?year=2019-2024&sort=-added&limit=200')
})

test('Escape closes the tray and leaves one where one was', async () => {
  await open()
  fireEvent.click(chip('Journal'))
  await settle()
  fireEvent.keyDown(screen.getByLabelText('Journal, or choose below'), { key: 'Escape' })
  expect(screen.queryByRole('group')).toBeNull()
  expect(document.activeElement?.textContent).toBe('Journal')
})

test('words are asked for once typing rests, and a head orders anew', async () => {
  await open()
  const before = asked.length
  for (const value of ['d', 'du', 'dust ']) fireEvent.change(screen.getByRole('searchbox'), { target: { value } })
  await settle(300)
  expect(asked.slice(before).filter((one) => one.startsWith('GET /papers'))).toEqual(['GET /papers?q=dust&sort=-added&limit=200'])
  fireEvent.click(screen.getByRole('button', { name: 'Title' }))
  await settle()
  expect(asked.at(-1)).toBe('GET /papers?q=dust&sort=title&limit=200')
})

test('where no paper fits, one is led back', async () => {
  await open()
  papers = []
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'nothing' } })
  await settle(300)
  expect(screen.getByText('No paper fits.')).toBeTruthy()
  papers = [paper(5)]
  fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }))
  await settle(300)
  expect(screen.getByText('Paper 5')).toBeTruthy()
})

test('a long list is asked for page by page, as far as one looks', async () => {
  papers = Array.from({ length: 450 }, (_, number) => paper(number))
  await open()
  const rows = screen.getByRole('table')
  expect(rows.getAttribute('aria-rowcount')).toBe('451')
  expect(asked.filter((one) => one.includes('cursor'))).toEqual([])
  const body = rows.querySelector('.papers-body') as HTMLElement
  body.scrollTop = 38 * 190
  fireEvent.scroll(body)
  await settle()
  expect(asked.filter((one) => one.includes('cursor'))).toEqual(['GET /papers?sort=-added&limit=200&cursor=200'])
})

test('tags are hung on with Enter and taken off with a button', async () => {
  const container = await open('paper0')
  const panel = within(screen.getByRole('complementary'))
  expect(panel.getByText(/Pages that hold no text: 3, 7\./)).toBeTruthy()
  expect(panel.getByText('The text in the PDF')).toBeTruthy()
  const field = panel.getByLabelText('Add a tag')
  fireEvent.change(field, { target: { value: ' to read ' } })
  fireEvent.submit(field)
  await settle()
  expect(sent).toEqual([JSON.stringify({ tags: ['dust', hostile, ' to read '] })])
  expect((field as HTMLInputElement).value).toBe('')
  fireEvent.click(panel.getByRole('button', { name: 'Take off the tag dust' }))
  await settle()
  expect(sent.at(-1)).toBe(JSON.stringify({ tags: [hostile, 'to read'] }))
  expect(screen.getAllByText('to read').length).toBe(2) // in the row and beside it
  expect(screen.queryByText('dust')).toBeNull()
  expect(document.activeElement).toBe(field)
  expect(container.querySelector('img')).toBeNull()
  fireEvent.change(field, { target: { value: 'x'.repeat(65) } })
  fireEvent.submit(field)
  await settle()
  expect(panel.getByRole('alert').textContent).toBe('The tag is too long. At most 64.')
  expect((field as HTMLInputElement).value).toHaveLength(65)
  fireEvent.click(panel.getByTitle('Show the papers tagged to read'))
  await settle()
  expect(asked.at(-1)).toBe('GET /papers?tag=to+read&sort=-added&limit=200')
})

test('a file that failed is sent again without being chosen again', async () => {
  const container = await open()
  const file = new File(['# A'], 'a.pdf')
  fireEvent.change(container.querySelector('input[type=file]') as HTMLElement, { target: { files: [file] } })
  await settle()
  expect(sent).toEqual([file])
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }))
  await settle()
  expect(sent).toEqual([file, file])
  expect(asked.filter((one) => one.startsWith('PUT'))).toEqual(Array(2).fill('PUT /papers/files?name=a.pdf'))
})

test('another paper begins anew: nothing stays armed for it', async () => {
  await open('paper0')
  fireEvent.click(screen.getByRole('button', { name: 'Remove' }))
  expect(screen.getByRole('button', { name: 'Remove from the library?' })).toBeTruthy()
  fireEvent.click(screen.getByText('Paper 1'))
  await settle()
  expect(location.hash).toBe('#/library/paper1')
  fireEvent.click(screen.getByRole('button', { name: 'Remove' }))
  expect(asked.filter((one) => one.startsWith('DELETE'))).toEqual([])
})

test('a copied entry is that of the export', async () => {
  const writeText = vi.fn(() => Promise.resolve())
  vi.stubGlobal('navigator', Object.create(navigator, { clipboard: { value: { writeText } } }) as Navigator)
  await open('paper0')
  fireEvent.click(screen.getByRole('button', { name: 'Copy BibTeX' }))
  await settle()
  expect(asked).toContain('GET /papers/export?ids=paper0&format=bibtex')
  expect(writeText).toHaveBeenCalledWith('@article{Ruiz0,}')
  expect(screen.getByRole('button', { name: 'Copied' })).toBeTruthy()
})

test('what is asked for stands in the address, and comes back after a paper was read', async () => {
  await open('', 'tag=dust&sort=title')
  expect(asked).toContain('GET /papers?tag=dust&sort=title&limit=200')
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'dust lanes ' } })
  await settle(300)
  expect(location.hash).toBe('#/library?q=dust+lanes&tag=dust&sort=title')
  expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('dust lanes ') // the space before the next word
  fireEvent.click(screen.getByText('Paper 1'))
  const there = '#/library/paper1?q=dust+lanes&tag=dust&sort=title'
  expect(location.hash).toBe(there)
  await goTo('#/reader/paper1')
  await goTo('#/library')
  expect(location.hash).toBe(there)
  expect(asked.at(-1)).not.toContain('sort=-added')
  await goTo('#/reader/paper0')
  await goTo('#/library/paper0')
  expect(location.hash).toBe(there.replace('paper1', 'paper0'))
})

test('one comes back to the row where one was, however far down', async () => {
  papers = Array.from({ length: 450 }, (_, number) => paper(number))
  await open()
  const body = () => document.querySelector('.papers-body') as HTMLElement
  body().scrollTop = 38 * 190
  fireEvent.scroll(body())
  await settle()
  body().scrollTop = 38 * 300
  fireEvent.scroll(body())
  await settle()
  await goTo('#/reader/paper300')
  expect(screen.getByText('A paper')).toBeTruthy()
  await goTo('#/library/paper300')
  expect(asked.filter((one) => one.startsWith('GET /papers?')).at(-1)).toBe('GET /papers?sort=-added&limit=400')
  expect(body().scrollTop).toBe(38 * 300)
  fireEvent.click(screen.getByRole('button', { name: 'Title' }))
  await settle()
  expect(body().scrollTop).toBe(0)
})

test('keys lead through the list, and one row always takes the tabulator', async () => {
  papers = Array.from({ length: 450 }, (_, number) => paper(number))
  await open()
  const tabbed = () => [...document.querySelectorAll('.paper-row[tabindex="0"] .col-title')].map((one) => one.textContent)
  expect(tabbed()).toEqual(['Paper 0'])
  const high = vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(38 * 450)
  const body = document.querySelector('.papers-body') as HTMLElement
  body.scrollTo = (to?: ScrollToOptions | number) => {
    body.scrollTop = (to as ScrollToOptions).top ?? 0
    setTimeout(() => fireEvent.scroll(body)) // as a browser does, later
  }
  ;(document.querySelector('.paper-row') as HTMLElement).focus()
  const press = async (key: string) => {
    fireEvent.keyDown(document.activeElement as Element, { key })
    await settle(60)
  }
  await press('ArrowDown')
  expect(focusedTitle()).toBe('Paper 1')
  await press('PageDown')
  expect(focusedTitle()).toBe('Paper 21')
  await press('PageUp')
  expect(focusedTitle()).toBe('Paper 1')
  await press('End')
  await settle(200)
  expect(focusedTitle()).toBe('Paper 449')
  expect(tabbed()).toEqual(['Paper 449'])
  await press('Home')
  expect(focusedTitle()).toBe('Paper 0')
  body.scrollTop = 38 * 100
  fireEvent.scroll(body)
  await settle()
  expect(texts()).not.toContain('Paper 0')
  expect(tabbed()).toEqual(['Paper 100'])
  expect(focusedTitle()).toBe('Paper 100')
  high.mockRestore()
})

test('each file that was not taken tells its own reason', async () => {
  refused = ['a.pdf', 'b.pdf']
  const container = await open()
  fireEvent.change(container.querySelector('input[type=file]') as HTMLElement, { target: { files: [new File(['a'], 'a.pdf'), new File(['b'], 'b.pdf')] } })
  await settle()
  const strip = within(screen.getByRole('region', { name: 'Running work' }))
  expect(strip.getByText('2 failed')).toBeTruthy()
  for (const name of refused) expect(strip.getByText(name)).toBeTruthy()
  expect(strip.getAllByRole('alert').length).toBe(2)
  refused = []
  fireEvent.click(strip.getAllByRole('button', { name: 'Try again' })[0] as HTMLElement)
  await settle()
  expect(strip.queryAllByRole('alert').length).toBe(1)
})

test('a failure that was hidden is let go of by the server', async () => {
  tasks = [failed('t1')]
  await open()
  fireEvent.click(screen.getByRole('button', { name: 'Hide' }))
  expect(screen.queryByText('It is empty.')).toBeNull()
  await settle()
  expect(asked).toContain('DELETE /tasks/t1')
})

test('only files bring up the place to drop them, and it goes when they leave', async () => {
  const container = await open()
  const library = container.querySelector('.library') as HTMLElement
  const told = () => screen.queryByText('Drop files to add them') !== null
  fireEvent.dragOver(library, { dataTransfer: { types: ['text/plain', 'text/uri-list'], files: [] } })
  expect(told()).toBe(false)
  const dataTransfer = { types: ['Files'], files: [] }
  fireEvent.dragOver(library, { dataTransfer })
  expect(told()).toBe(true)
  const leave = (from: Element, relatedTarget: Element | null) =>
    fireEvent(from, Object.defineProperty(createEvent.dragLeave(from, { dataTransfer }), 'relatedTarget', { value: relatedTarget }))
  leave(library, screen.getByRole('searchbox'))
  expect(told()).toBe(true)
  leave(screen.getByRole('searchbox'), null)
  expect(told()).toBe(false)
})

test('years that make no sense are answered with those that do', async () => {
  await open()
  fireEvent.click(chip('Year'))
  await settle()
  const field = screen.getByLabelText('Year, or 2019-2024')
  fireEvent.change(field, { target: { value: 'last year' } })
  fireEvent.submit(field)
  expect(screen.getByRole('alert').textContent).toContain('2019-2024')
  fireEvent.change(field, { target: { value: '2' } })
  expect(screen.queryByRole('alert')).toBeNull()
})

test('Escape closes the panel, but not over words, a tray or a dialogue', async () => {
  await open('paper0')
  const escape = (where: Element) => fireEvent.keyDown(where, { key: 'Escape' })
  const field = screen.getByLabelText('Add a tag')
  fireEvent.change(field, { target: { value: 'dus' } })
  escape(field)
  expect(screen.queryByRole('complementary')).toBeTruthy()
  fireEvent.click(chip('Journal'))
  await settle()
  escape(screen.getByLabelText('Journal, or choose below'))
  expect(screen.queryByRole('complementary')).toBeTruthy()
  fireEvent.change(field, { target: { value: '' } })
  act(() => field.focus())
  escape(field)
  expect(screen.queryByRole('complementary')).toBeNull()
  expect(location.hash).toBe('#/library')
  expect(document.activeElement?.className).toBe('paper-row')
})

test('a link to a paper that is not here says so', async () => {
  await open('paper9')
  expect(within(screen.getByRole('complementary')).getByText('This paper is not in the library.')).toBeTruthy()
  expect(screen.getByText('Paper 0')).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Close' }))
  expect(screen.queryByRole('complementary')).toBeNull()
})
