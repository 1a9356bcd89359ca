/** The log over a small server: what is still read, what fits nothing and what is empty are told apart. */
import { act, fireEvent, render, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useRoute } from '../app/route'
import { AuditPage } from './AuditPage'

const row = (id: number, tool: string) => ({
  id, session_id: 's1', seq: id, turn_id: 't', agent: 'main', time: '2026-01-02T00:00:00Z', type: 'tool_result', tool, tool_call_id: 'a', outcome: 'ok', event_sha256: '0', chain_sha256: 'abcdef0123',
})
let rows: unknown[] = []
let answer: () => void = () => undefined

beforeEach(() => {
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(800)
  vi.stubGlobal('ResizeObserver', class { observe = () => undefined; unobserve = () => undefined; disconnect = () => undefined })
  vi.stubGlobal('fetch', (url: string) => {
    const { pathname, searchParams } = new URL(url)
    if (pathname !== '/api/audit') return Promise.resolve(Response.json({ sound: true, wrong: [] }))
    const told = searchParams.get('session') === 'other' ? [] : rows
    return new Promise((resolve) => {
      answer = () => resolve(Response.json({ rows: told }))
    })
  })
})
afterEach(() => vi.unstubAllGlobals())

function Shown() {
  return <AuditPage route={useRoute()} />
}

async function open(query = '') {
  location.hash = `#/audit${query}`
  render(<Shown />)
  await act(async () => Promise.resolve())
}
const answered = () =>
  act(async () => {
    answer()
    await new Promise((resolve) => setTimeout(resolve, 30))
  })

test('a log that is not here yet is not an empty one', async () => {
  rows = []
  await open()
  expect(screen.getByRole('status').textContent).toBe('Reading the log…')
  expect(screen.queryByText('Nothing was done yet.')).toBeNull()
  await answered()
  expect(screen.getByText('Nothing was done yet.')).toBeTruthy()
})

test('a filter that finds nothing says so and is taken back', async () => {
  rows = [row(1, 'rag_search'), row(2, 'run_bash')]
  await open()
  await answered()
  fireEvent.click(screen.getByRole('button', { name: 'Decisions only' }))
  expect(screen.getByText('No line fits the filter.')).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }))
  expect(screen.getAllByText('tool_result').length).toBe(2)
})

test('a session without a line is a filter that finds nothing', async () => {
  await open('?session=other')
  await answered()
  expect(screen.getByText('No line fits the filter.')).toBeTruthy()
})

test('all tools stay to choose from when one is chosen', async () => {
  rows = [row(1, 'rag_search'), row(2, 'run_bash')]
  await open()
  await answered()
  fireEvent.change(screen.getByLabelText('Tool'), { target: { value: 'run_bash' } })
  expect(location.hash).toBe('#/audit?tool=run_bash')
  expect(screen.getAllByText('tool_result').length).toBe(1)
  const names = within(screen.getByLabelText('Tool')).getAllByRole('option').map((one) => one.textContent)
  expect(names).toEqual(['All tools', 'rag_search', 'run_bash'])
})
