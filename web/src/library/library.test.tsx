/** The library over a small server: filters ask it, tags go to it, files are sent again. */
import { act, fireEvent, render, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Paper, Task } from '../api/shapes'
import { translator } from '../words'
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

function answer(method: string, url: URL, body: unknown): unknown {
  const path = url.pathname.replace('/api', '')
  if (method === 'PATCH') {
    const { tags } = JSON.parse(body as string) as { tags: string[] }
    if (tags.some((tag) => tag.length > 64)) return undefined
    papers = papers.map((one) => (path.endsWith(one.paper_id) ? { ...one, tags: tags.map((tag) => tag.trim()) } : one))
    return papers.find((one) => path.endsWith(one.paper_id))
  }
  if (method === 'PUT') {
    const task = failed(`t${sent.length}`)
    tasks = [task]
    return task
  }
  if (path === '/tasks') return { tasks }
  if (path === '/papers/facets') return { values: [{ value: url.searchParams.get('of') === 'year' ? '2024' : hostile, count: 7 }] }
  if (path !== '/papers') return { ...papers.find((one) => path.endsWith(one.paper_id)), engine: 'pdfium/1', verdict: 'pages without text: 3, 7' }
  const from = Number(url.searchParams.get('cursor') ?? 0)
  const to = from + Number(url.searchParams.get('limit'))
  return { papers: papers.slice(from, to), total: papers.length, next_cursor: to < papers.length ? String(to) : null }
}

beforeEach(() => {
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
    return Promise.resolve(told ? Response.json(told) : Response.json({ error: { code: 'usage', message: 'The tag is too long.', hint: 'At most 64.' } }, { status: 422 }))
  })
})
afterEach(() => vi.unstubAllGlobals())

const chip = (name: string) => within(document.querySelector('.filters') as HTMLElement).getByRole('button', { name })
const settle = (ms = 30) => act(() => new Promise((resolve) => setTimeout(resolve, ms)))

async function open(id = ''): Promise<HTMLElement> {
  const { container } = render(<LibraryPage route={{ page: 'library', id, query: new URLSearchParams() }} />)
  await settle()
  return container
}

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
