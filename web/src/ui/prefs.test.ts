import { afterEach, expect, test } from 'vitest'
import { getPrefs, setPrefs } from './prefs'

afterEach(() => setPrefs({ language: 'en', theme: 'system' }))

test('what another tab chose is taken over', () => {
  setPrefs({ language: 'en', theme: 'light' })
  localStorage.setItem('nuncius.prefs', JSON.stringify({ ...getPrefs(), language: 'zh', theme: 'dark' }))
  expect(getPrefs().language).toBe('en')
  window.dispatchEvent(new StorageEvent('storage', { key: 'nuncius.prefs' }))
  expect([getPrefs().language, getPrefs().theme]).toEqual(['zh', 'dark'])
  expect([document.documentElement.lang, document.documentElement.dataset.theme]).toEqual(['zh-Hans', 'dark'])
})

test('another key changes nothing', () => {
  localStorage.setItem('nuncius.prefs', JSON.stringify({ theme: 'dark' }))
  window.dispatchEvent(new StorageEvent('storage', { key: 'nuncius.place' }))
  expect(getPrefs().theme).toBe('system')
})
