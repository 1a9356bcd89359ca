import { fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { axe } from '../test/axe'
import { PermissionCard } from './PermissionCard'
import { QuestionCard } from './QuestionCard'

let sent: { url: string; body: unknown }[]

beforeEach(() => {
  sent = []
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push({ url: new URL(url).pathname, body: JSON.parse(init.body as string) as unknown })
    return Promise.resolve(new Response('{}'))
  })
})
afterEach(() => vi.unstubAllGlobals())

const request = {
  id: 'p1', tool: 'run_bash', agent: 'main', argsSha256: 'ab12', reason: 'It writes files.', rule: 'run_bash(make *)',
  arguments: { command: `make all && ${'x'.repeat(3000)}`, cwd: 'data' },
}

test('shows all arguments, the reason and the rule that "always" would write', async () => {
  const { container } = render(<PermissionCard request={request} />)
  expect(container.textContent).toContain('x'.repeat(3000))
  for (const text of ['It writes files.', 'run_bash(make *)', 'data']) expect(screen.getByText(text)).toBeTruthy()
  expect(await axe(container)).toEqual([])
})

test.each([
  ['a', { decision: 'allow', scope: 'once' }],
  ['S', { decision: 'allow', scope: 'session' }],
  ['d', { decision: 'deny', scope: 'once' }],
])('the key %s decides, bound to the digest of the arguments', (key, decision) => {
  render(<PermissionCard request={request} />)
  fireEvent.keyDown(screen.getByLabelText('Permission'), { key })
  expect(sent).toEqual([{ url: '/api/permissions/requests/p1', body: { ...decision, args_sha256: 'ab12' } }])
})

test('a letter typed into the comment decides nothing and goes along with the decision', () => {
  render(<PermissionCard request={request} />)
  const comment = screen.getByRole('textbox')
  fireEvent.keyDown(comment, { key: 'a' })
  expect(sent).toEqual([])
  fireEvent.change(comment, { target: { value: 'not in data/' } })
  fireEvent.click(screen.getByRole('button', { name: /Deny/ }))
  expect(sent[0]?.body).toEqual({ decision: 'deny', scope: 'once', args_sha256: 'ab12', comment: 'not in data/' })
})

test('Escape puts it off, and it can be taken up again', () => {
  render(<PermissionCard request={request} />)
  fireEvent.keyDown(screen.getByLabelText('Permission'), { key: 'Escape' })
  fireEvent.click(screen.getByText(/still waits/))
  expect(screen.getByText('Allow once')).toBeTruthy()
  expect(sent).toEqual([])
})

test('a decision that was not taken says why and can be made again', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ error: { code: 'c', message: 'Decided before.', hint: 'Load again.' } }), { status: 409 })))
  render(<PermissionCard request={request} />)
  fireEvent.click(screen.getByRole('button', { name: /Allow once/ }))
  expect((await screen.findByRole('alert')).textContent).toBe('Decided before. Load again.')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: /Allow once/ }).disabled).toBe(false)
})

test('text that looks like a button of ours stays text', () => {
  const evil = 'run `ls`</pre><button>Allow</button>'
  const { container } = render(<PermissionCard request={{ ...request, reason: evil, tool: '<img src=x onerror=alert(1)>' }} />)
  expect(container.querySelector('img')).toBeNull()
  expect(screen.getAllByRole('button')).toHaveLength(4)
  expect(container.textContent).toContain(evil)
})

const asked = { id: 'q1', question: 'Which age?', options: ['Isochrones', 'Lithium'], expiresAt: '' }

test('a question is answered by an option, in own words, or declined', async () => {
  const { container } = render(<QuestionCard asked={asked} />)
  expect(await axe(container)).toEqual([])
  fireEvent.click(screen.getByRole('button', { name: /Lithium/ }))
  expect(sent).toEqual([{ url: '/api/questions/q1', body: { answer: 'Lithium' } }])
})

test('own words are sent trimmed, nothing is not', () => {
  render(<QuestionCard asked={asked} />)
  const field = screen.getByRole('textbox')
  fireEvent.change(field, { target: { value: '  both  ' } })
  fireEvent.submit(field)
  expect(sent).toEqual([{ url: '/api/questions/q1', body: { answer: 'both' } }])
})

test('a question that is past its time still takes an answer', () => {
  render(<QuestionCard asked={{ ...asked, expiresAt: '2020-01-01T00:00:00Z' }} />)
  expect(screen.getByText(/an answer still reaches it/)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Decline' }))
  expect(sent[0]?.body).toEqual({ declined: true })
})

test('an option is chosen by its number, and what was typed outlives a scroll', () => {
  const asked = { id: 'q9', question: 'Which band?', options: ['V', 'G'], expiresAt: '' }
  const first = render(<QuestionCard asked={asked} />)
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'Both 2' } })
  fireEvent.keyDown(screen.getByRole('textbox'), { key: '2' })
  expect(sent).toEqual([])
  first.unmount()
  render(<QuestionCard asked={asked} />)
  expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('Both 2')
  fireEvent.keyDown(screen.getByRole('region', { name: 'A question to you' }), { key: '2' })
  expect(sent).toEqual([{ url: '/api/questions/q9', body: { answer: 'G' } }])
})
