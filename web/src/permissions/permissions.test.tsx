/** The page of rules over a small server: what "always" wrote is shown, what was refused stays. */
import { act, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setPrefs } from '../ui/prefs'
import { PermissionsPage } from './PermissionsPage'

const rule = (pattern: string) => ({ id: 1, pattern, decision: 'allow', session_id: '', source: 'user', created_at: '2026-01-02T00:00:00Z' })
const request = { kind: 'permission', id: 'p1', session_id: 's1', agent: 'main', tool: 'run_bash', arguments: { command: 'ls' }, reason: '', rule: 'run_bash(ls)', args_sha256: 'aa' }
let rules: unknown[] = []
let pending: unknown[] = []

beforeEach(() => {
  vi.useFakeTimers()
  rules = []
  pending = [request]
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
    const path = new URL(url).pathname.replace('/api', '')
    if (path === '/permissions/requests/p1') {
      rules = [rule('run_bash(ls)')]
      pending = []
      return Promise.resolve(Response.json({}))
    }
    if (init?.method === 'PUT') {
      const { pattern } = JSON.parse(init.body as string) as { pattern: string }
      if (pattern.startsWith('nosuch')) {
        return Promise.resolve(Response.json({ error: { code: 'not_found', message: 'There is no tool.', hint: 'Such as run_bash.' } }, { status: 404 }))
      }
      rules = [rule(pattern)]
      return Promise.resolve(Response.json(rules[0]))
    }
    return Promise.resolve(Response.json(path === '/pending' ? { pending } : path === '/tools' ? { tools: [{ name: 'run_bash' }] } : { rules }))
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  setPrefs({ language: 'en' })
})

const settle = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))

test('the rule that "always" wrote appears, and whose it is stands there in words', async () => {
  render(<PermissionsPage />)
  await settle(50)
  expect(screen.getByText(/No rules yet/)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Always' }))
  await settle(3200)
  expect(screen.getByRole('cell', { name: 'run_bash(ls)' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Always' })).toBeNull()
  expect(screen.getByText(/by you/)).toBeTruthy()
  act(() => setPrefs({ language: 'zh' }))
  expect(screen.getByText(/由你添加/)).toBeTruthy()
})

test('a rule that was refused stays to be mended, one that was taken does not', async () => {
  pending = []
  render(<PermissionsPage />)
  await settle(50)
  const field = screen.getByPlaceholderText<HTMLInputElement>('run_bash(git log *)')
  const add = async (pattern: string) => {
    fireEvent.change(field, { target: { value: pattern } })
    fireEvent.click(screen.getByRole('button', { name: 'Add rule' }))
    await settle(50)
  }
  await add('nosuch(ls)')
  expect(screen.getByRole('alert').textContent).toContain('Such as run_bash.')
  expect(field.value).toBe('nosuch(ls)')
  await add('run_bash(ls *)')
  expect(screen.queryByRole('alert')).toBeNull()
  expect(field.value).toBe('')
  expect(screen.getByRole('cell', { name: 'run_bash(ls *)' })).toBeTruthy()
})
