/** What this browser remembers: language, theme, density, and small places such as a reading position. */
import { useSyncExternalStore } from 'react'

export type Language = 'en' | 'zh'
export type Theme = 'system' | 'light' | 'dark'
export type Density = 'compact' | 'normal' | 'roomy'

export interface Prefs {
  language: Language
  theme: Theme
  density: Density
}

export const modifier = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl '

const KEY = 'nuncius.prefs'
const listeners = new Set<() => void>()

export function remembered<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(key)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise // storage is switched off, or holds what we did not write
  }
}

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Full or switched off: the page works, it only forgets.
  }
}

function initial(): Prefs {
  const language = navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
  const first: Prefs = { language, theme: 'system', density: 'normal' }
  return { ...first, ...remembered<Partial<Prefs>>(KEY, {}) }
}

let prefs = initial()

const dark = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : null

function apply(): void {
  const root = document.documentElement
  root.dataset.theme = prefs.theme === 'system' ? (dark?.matches ? 'dark' : 'light') : prefs.theme
  root.dataset.density = prefs.density
  root.lang = prefs.language === 'zh' ? 'zh-Hans' : 'en'
}

dark?.addEventListener('change', apply)
apply()

/** What another tab of this browser chose holds here too. */
window.addEventListener('storage', (event) => {
  if (event.key !== KEY) return
  prefs = initial()
  apply()
  listeners.forEach((listener) => listener())
})

export function setPrefs(change: Partial<Prefs>): void {
  prefs = { ...prefs, ...change }
  remember(KEY, prefs)
  apply()
  listeners.forEach((listener) => listener())
}

export function getPrefs(): Prefs {
  return prefs
}

export function usePrefs(): Prefs {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, getPrefs)
}
