/** Words of the screen in the reader's language. */
import { getPrefs, usePrefs, type Language } from '../ui/prefs'
import { en } from './en'
import { zh } from './zh'

export type Word = keyof typeof en
export type Catalogue = Record<Word, string>
type Values = Record<string, string | number>

export const catalogues: Record<Language, Catalogue> = { en, zh }

/** Fill `{name}`; `{n|tool|tools}` takes the form for the number `n`. */
export function fill(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name]
    if (value === undefined) return whole
    if (one === undefined || many === undefined) return String(value)
    return value === 1 ? one : many
  })
}

export type Translate = (word: Word, values?: Values) => string

export function translator(language: Language): Translate {
  return (word, values) => fill(catalogues[language][word], values)
}

export function useWords(): Translate {
  return translator(usePrefs().language)
}

export function isWord(text: string): text is Word {
  return text in en
}

export function locale(): string {
  return getPrefs().language === 'zh' ? 'zh-CN' : 'en-GB'
}
