import { fireEvent, render, screen, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { axe } from '../../test/axe'
import type { ToolItem } from '../../session/items'
import { diffLines } from './diff'
import { shownPassages } from './shapes'
import { ToolCard } from './ToolCard'

afterEach(() => vi.unstubAllGlobals())

function tool(name: string, more: Partial<ToolItem> = {}): ToolItem {
  return {
    kind: 'tool', key: 'k1', agent: 'main', step: 1, id: 'a', name, arguments: {}, original: null, state: 'done', progress: '',
    fraction: null, output: '', errorKind: '', metadata: {}, durationMs: 5, startedAt: '', ...more,
  }
}

const paper = { title: 'H<sub>2</sub>O in <b>HD 1</b>', authors: ['Ruiz, E.', 'Ito, S.'], year: 2024, journal: 'ApJ', arxiv_id: '2401.00001', citation_count: 7 }

test('a search is a table; what the library lacks is added with one press', async () => {
  const sent = vi.fn(() => Promise.resolve(new Response('{}', { status: 202 })))
  vi.stubGlobal('fetch', sent)
  const metadata = { papers: [paper, { ...paper, title: 'Held', arxiv_id: '2401.2', paper_id: 'k3f2a9c1' }], queries: { ads: 'abs:water' }, errors: [] }
  const { container } = render(<ToolCard tool={tool('search_papers', { metadata })} />)
  const [, first, second] = screen.getAllByRole('row')
  expect(first && within(first).getByText('Ruiz & Ito 2024')).toBeTruthy()
  expect(container.querySelector('sub')?.textContent).toBe('2')
  expect(container.querySelector('b')).toBeNull()
  expect(second && within(second).getByRole('link').getAttribute('href')).toBe('#/reader/k3f2a9c1')
  fireEvent.click(screen.getByRole('button', { name: /^Add/ }))
  await screen.findByText('added')
  expect(sent).toHaveBeenCalledWith(expect.stringContaining('/api/papers'), expect.objectContaining({ body: '{"id":"2401.00001"}' }))
  expect(await axe(container)).toEqual([])
})

test('all that the library lacks is added at once, one after the other, and each failure is told', async () => {
  const bodies: unknown[] = []
  const send = (_path: string, { body }: { body: string }) => {
    bodies.push(JSON.parse(body))
    const status = body.includes('2401.2') ? 404 : 202
    return Promise.resolve(new Response(status === 404 ? '{"error":{"code":"x","message":"not there","hint":""}}' : '{}', { status }))
  }
  vi.stubGlobal('fetch', vi.fn(send))
  const papers = [paper, { ...paper, arxiv_id: '2401.2' }, { ...paper, arxiv_id: '2401.3', paper_id: 'k3f2a9c1' }, { ...paper, arxiv_id: '', doi: '10.1/x' }]
  render(<ToolCard tool={tool('search_papers', { metadata: { papers, queries: {}, errors: [] } })} />)
  fireEvent.click(screen.getByRole('button', { name: 'Add all 3' }))
  await screen.findByText('not there')
  expect(await screen.findAllByText('added')).toHaveLength(2)
  expect(bodies).toEqual([{ id: '2401.00001' }, { id: '2401.2' }, { id: '10.1/x' }])
  expect(screen.queryByRole('button', { name: /^Add all/ })).toBeNull()
})

test('a source that failed says so above the table', () => {
  const metadata = { papers: [], queries: {}, errors: [{ source: 'ads', message: 'no token', hint: 'Set ADS_API_TOKEN.' }] }
  render(<ToolCard tool={tool('search_papers', { metadata })} />)
  expect(screen.getByText(/no token Set ADS_API_TOKEN/)).toBeTruthy()
  expect(screen.getByText('Nothing was found.')).toBeTruthy()
})

test('a target shows its position in both ways, errors and sources of numbers, and a chart', () => {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  const metadata = {
    name: 'M 1', asked: 'm1', ra_deg: 83.6287, dec_deg: -0.0147, frame: 'ICRS', epoch: 'J2000', type_text: 'Supernova remnant', resolver: 'SIMBAD',
    aliases: ['NGC 1952', 'Crab'], measured: { parallax_mas: { value: -0.5, unit: 'mas', error: 0.1, bibcode: '2020Demo' } },
  }
  render(<ToolCard tool={tool('query_target', { metadata })} />)
  expect(screen.getByText('05h 34m 30.89s −00° 00′ 52.9″')).toBeTruthy()
  expect(screen.getByText(/−0\.5 ± 0\.1 mas/).textContent).toContain('2020Demo')
  expect(screen.getByText('2 other names')).toBeTruthy()
  expect(screen.getByRole('img').getAttribute('aria-label')).toContain('M 1')
})

const shown = [
  'Library: 2 papers.', '# k3f2a9c1 · A paper · with a dot · Ruiz 2024', '[k3f2a9c1-12] p. 7 · match 90% · 4. Results', '3| First. ', '4| Second.', '(cut)',
  '[k3f2a9c1-13] no pages', '1| Third.',
].join('\n')

test('passages are quoted with their place and open the reader at the quote', () => {
  expect(shownPassages(shown)).toEqual([
    { id: 'k3f2a9c1-12', paperId: 'k3f2a9c1', title: 'A paper · with a dot', place: 'p. 7 · 4. Results', sentences: ['First. ', 'Second.'] },
    { id: 'k3f2a9c1-13', paperId: 'k3f2a9c1', title: 'A paper · with a dot', place: 'no pages', sentences: ['Third.'] },
  ])
  render(<ToolCard tool={tool('rag_search', { output: shown })} />)
  const [link] = screen.getAllByRole('link')
  expect(link?.getAttribute('href')).toMatch(/^#\/reader\/k3f2a9c1\?page=7&quote=First/)
})

test('an edit is its difference', () => {
  expect(diffLines('a\nb\nc', 'a\nx\nc').map((line) => line.kind + line.text)).toEqual(['samea', 'removedb', 'addedx', 'samec'])
  expect(diffLines('', 'one').map((line) => line.kind)).toEqual(['added'])
  const long = Array.from({ length: 50 }, (_, at) => `line ${at}`)
  const kinds = diffLines(long.join('\n'), long.with(25, 'new').join('\n')).map((line) => line.kind)
  expect(kinds.filter((kind) => kind === 'gap')).toHaveLength(2)
  expect(kinds).toHaveLength(10)
  render(<ToolCard tool={tool('file_edit', { arguments: { path: 'a.py', old_string: 'x = 1', new_string: 'x = 2' } })} />)
  expect(screen.getByText('+1')).toBeTruthy()
  expect(screen.getByText('−1')).toBeTruthy()
})

test('a command is shown whole, with hidden characters revealed, its output and its exit code', () => {
  render(
    <ToolCard
      tool={tool('run_bash', { arguments: { command: 'echo \u202eevil' }, output: 'ok', metadata: { exit_code: 3, sandboxed: false } })}
    />,
  )
  expect(screen.getByLabelText('Command').textContent).toContain('\\u202eevil')
  expect(screen.getByText(/exit code 3/).textContent).toContain('ran without a sandbox')
})

test('a todo list says each state in words, not by colour alone', () => {
  const todos = [{ id: '1', content: 'Read', status: 'completed' }, { id: '2', content: 'Write', status: 'strange' }]
  render(<ToolCard tool={tool('todo_write', { metadata: { todos } })} />)
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(['done: Read', 'to do: Write'])
})

test.each(['search_papers', 'query_target', 'rag_search', 'todo_write', 'run_bash', 'file_edit', 'a_foreign_tool'])(
  '%s with metadata of another shape is still drawn',
  (name) => {
    const metadata = { papers: 'x', ra_deg: 'y', todos: [1, null], passages: {}, exit_code: 'z', queries: [], errors: 4 }
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
    const { container } = render(<ToolCard tool={tool(name, { metadata, arguments: { query: 7 }, output: 'the output' })} />)
    expect(container.textContent).not.toBe('')
  },
)

test('a failed call shows what it was given and what it said, whatever its family', () => {
  render(<ToolCard tool={tool('search_papers', { state: 'failed', arguments: { query: 'M 31' }, output: 'no such host' })} />)
  expect(screen.getByText('M 31')).toBeTruthy()
  expect(screen.getByText('no such host')).toBeTruthy()
})
