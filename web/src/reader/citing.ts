/** Where a paper's text cites the works of its own list: `Riess et al. 2022`, `(2016a,b)`, `[3, 5–7]`. */
import type { Reference } from '../api/shapes'

export interface Mention {
  start: number
  end: number
  /** Places in the list of references, from 1. */
  works: number[]
}

export type Finder = (text: string) => Mention[]

const YEAR = /(?<![\d.:/–-])(?:1[6-9]|20)\d\d(?![\d/]|\.\d|[–-]\d)(?:[a-z](?:\s*[,–-]\s*[a-z])*)?(?![\p{L}\d])/gu
const NUMBERS = /\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]/g
/** Between a name and its year: `et al.`, a second name, a possessive, an opening bracket. */
const BETWEEN = String.raw`(?:['’]s?)?(?:\s+(?:[IVXL]+|Int\.))*(?:,?\s+et\s+al\.?(?:['’]s)?|,?\s*(?:&|\band\b|和|与)\s*[^()（）\[\];；\d]{1,60}|等人?)?[\s,，]*[([（]?\s*$`
const SAME_AUTHORS = /^[\s,;&，；、]*(?:and\s+|和)?$/
const FARTHEST = 140

/** Return what finds the citations of these works in a run of text. */
export function finder(works: readonly Reference[]): Finder {
  const labels = new Map(works.filter((one) => one.label).map((one) => [one.label, one.number]))
  const byYear = new Map<string, { work: Reference; ends: RegExp }[]>()
  for (const work of works) {
    if (!work.first_author || !work.year) continue
    const year = work.year.slice(0, 4)
    const ends = new RegExp(`(?<![\\p{L}\\d])${names(work.first_author)}${BETWEEN}`, 'u')
    byYear.set(year, [...(byYear.get(year) ?? []), { work, ends }])
  }
  return (text) => {
    const found = [...byName(text, byYear), ...byLabel(text, labels)]
    return found.sort((one, other) => one.start - other.start)
  }
}

/** A name as it may stand in the text: `The X Collaboration` without its article, too. */
function names(author: string): string {
  const bare = author.replace(/^the\s+/i, '')
  const written = bare.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+').replace(/['’]/g, "['’]")
  return bare === author ? written : `(?:[Tt]he\\s+)?${written}`
}

function* byName(text: string, byYear: ReadonlyMap<string, { work: Reference; ends: RegExp }[]>): Generator<Mention> {
  let authors: { last: string; end: number } | null = null
  for (const match of text.matchAll(YEAR)) {
    const known = byYear.get(match[0].slice(0, 4)) ?? []
    const before = text.slice(Math.max(0, match.index - FARTHEST), match.index)
    let named = known.filter(({ ends }) => ends.test(before)).map(({ work, ends }) => ({ work, start: match.index - before.length + before.search(ends) }))
    let start = Math.min(...named.map((one) => one.start))
    if (!named.length && authors && SAME_AUTHORS.test(text.slice(authors.end, match.index))) {
      const { last } = authors
      named = known.filter(({ work }) => work.first_author === last).map(({ work }) => ({ work, start: match.index }))
      start = match.index
    }
    const meant = lettered(
      alike(
        named.map(({ work }) => work),
        before,
      ),
      match[0].slice(4),
    )
    const first = meant[0]
    if (!first) {
      authors = null
      continue
    }
    authors = { last: first.first_author, end: match.index + match[0].length }
    yield { start, end: authors.end, works: meant.map((work) => work.number) }
  }
}

const SECOND = /(?:&|and|和|与)\s*([^()（）[\];；\d]{1,60}?)[\s,，]*[([（]?\s*$/u
const NUMERAL = /\s([IVXL]+)(?:\s+et\s+al\.?)?[\s,，]*[([（]?\s*$/

/** Of works of one name, those with the second author or the number that the text names, too. */
function alike(works: readonly Reference[], before: string): readonly Reference[] {
  const second = SECOND.exec(before)?.[1]?.trim()
  const numeral = NUMERAL.exec(before)?.[1]
  const fitting = works.filter(({ text }) => (second ? text.includes(second) : numeral ? text.split(/[\s.,]+/, 12).includes(numeral) : true))
  return fitting.length ? fitting : works
}

/** Of works of one year, those whose letters are named: `a,b`, `a–c`. */
function lettered(works: readonly Reference[], letters: string): Reference[] {
  const range = /^([a-z])\s*[–-]\s*([a-z])$/.exec(letters)
  const wanted = (letter: string) => (range ? letter >= (range[1] ?? '') && letter <= (range[2] ?? '') : letters.includes(letter))
  const fitting = letters ? works.filter((work) => work.year.length > 4 && wanted(work.year.slice(4))) : works.filter((work) => work.year.length === 4)
  return fitting.length ? fitting : [...works]
}

function* byLabel(text: string, labels: ReadonlyMap<string, number>): Generator<Mention> {
  if (!labels.size) return
  for (const match of text.matchAll(NUMBERS)) {
    const works = (match[1] ?? '').split(/\s*[,;]\s*/).flatMap((part) => {
      const [from = 0, to = from] = part.split(/\s*[–-]\s*/).map(Number)
      return to - from > 50 ? [] : Array.from({ length: to - from + 1 }, (_, step) => labels.get(String(from + step)) ?? 0)
    })
    if (works.length && works.every(Boolean)) yield { start: match.index, end: match.index + match[0].length, works }
  }
}
