/** Finds sentences and quotes in rendered text, whatever markup stands between their words. */
import type { Root } from 'mdast'
import { eachLeaf, element, type Leaf } from './tree'

export type MarkKind = 'unsupported' | 'quote' | 'note'

export interface Mark {
  id: string
  kind: MarkKind
  text: string
}

/**
 * Letters and digits only: white space, markup, hyphens at line ends and ligatures differ between a stored
 * quote and the page it is looked for on.
 */
export function skeleton(text: string): string {
  return pieces(text)
    .map(([letters]) => letters)
    .join('')
}

function pieces(text: string): [letters: string, at: number][] {
  const found: [string, number][] = []
  const ignored = [...text.matchAll(/\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]|\[[a-z0-9]{8}-\d{1,6}[^\]]{0,16}\]/g)]
  let skip = ignored.shift()
  for (let at = 0; at < text.length; ) {
    if (skip?.index === at) {
      at += skip[0].length
      skip = ignored.shift()
      continue
    }
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const letters = char.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '')
    if (letters) found.push([letters, at])
    at += char.length
  }
  return found
}

export interface Span {
  start: number
  end: number
}

/** Find `wanted` in `texts` joined; return what part of each text it covers, by the text's index. */
export function locate(texts: readonly string[], wanted: string): Map<number, Span> {
  const places: [text: number, at: number, length: number][] = []
  let all = ''
  texts.forEach((text, index) => {
    for (const [letters, at] of pieces(text)) {
      all += letters
      const size = (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
      for (let unit = 0; unit < letters.length; unit++) places.push([index, at, size])
    }
  })
  const found = find(all, skeleton(wanted))
  const spans = new Map<number, Span>()
  if (!found) return spans
  for (const [index, at, size] of places.slice(found.start, found.end)) {
    const known = spans.get(index)
    spans.set(index, { start: known?.start ?? at, end: at + size })
  }
  return whole(spans, texts)
}

/** What joins two texts belongs to the run, and so does the stop that ends a sentence. */
function whole(spans: Map<number, Span>, texts: readonly string[]): Map<number, Span> {
  const order = [...spans.keys()]
  for (const [index, span] of spans) {
    const text = texts[index] ?? ''
    if (index !== order[0]) span.start = 0
    const stop = /^[.,!?;:。！？)"”’]*/.exec(text.slice(span.end))?.[0].length ?? 0
    span.end = index === order.at(-1) ? span.end + stop : text.length
  }
  return spans
}

const ENDS = 40

function find(all: string, wanted: string): Span | null {
  if (!wanted) return null
  const at = all.indexOf(wanted)
  if (at >= 0) return { start: at, end: at + wanted.length }
  if (wanted.length < 3 * ENDS) return null
  // A page's furniture can stand within a long quote: its two ends are enough.
  const start = all.indexOf(wanted.slice(0, ENDS))
  const tail = all.indexOf(wanted.slice(-ENDS), start)
  const end = tail + ENDS
  return start >= 0 && tail > start && end - start < wanted.length * 1.5 ? { start, end } : null
}

/** Wrap what the marks cover in `<mark data-kind data-mark>`. */
export function remarkMarks(marks: readonly Mark[]) {
  return () => (root: Root) => {
    if (!marks.length) return
    const texts: string[] = []
    eachLeaf(root, (leaf) => {
      texts.push(leaf.type === 'html' ? '' : leaf.value)
      return null
    })
    const covered = new Map<number, { span: Span; mark: Mark }[]>()
    for (const mark of marks) {
      for (const [index, span] of locate(texts, mark.text)) {
        covered.set(index, [...(covered.get(index) ?? []), { span, mark }])
      }
    }
    let index = -1
    eachLeaf(root, (leaf) => {
      index++
      const here = covered.get(index)
      return here ? wrapped(leaf, here, (at) => isLast(covered, index, at)) : null
    })
  }
}

function isLast(covered: Map<number, { mark: Mark }[]>, index: number, mark: Mark): boolean {
  for (const [other, list] of covered) if (other > index && list.some((one) => one.mark === mark)) return false
  return true
}

function wrapped(leaf: Leaf, here: { span: Span; mark: Mark }[], last: (mark: Mark) => boolean): unknown[] {
  if (leaf.type !== 'text') {
    return [here.reduce<unknown>((inner, { mark }) => wrap(mark, [inner], last(mark)), { ...leaf })]
  }
  const cuts = [0, leaf.value.length, ...here.flatMap(({ span }) => [span.start, span.end])]
  const edges = [...new Set(cuts)].sort((one, other) => one - other)
  return edges.slice(0, -1).map((start, place) => {
    const end = edges[place + 1] ?? leaf.value.length
    const over = here.filter(({ span }) => span.start <= start && span.end >= end)
    const piece: unknown = { type: 'text', value: leaf.value.slice(start, end) }
    return over.reduce((inner, { mark, span }) => wrap(mark, [inner], last(mark) && span.end === end), piece)
  })
}

function wrap(mark: Mark, children: unknown[], ends: boolean): unknown {
  const properties = { 'data-kind': mark.kind, 'data-mark': mark.id, ...(ends ? { 'data-ends': 'yes' } : {}) }
  return element('mark', properties, children)
}

/** Turn `[1]` and `[1, 2]` into citation marks where the answer has citations of these keys. */
export function remarkCitations(keys: ReadonlySet<string>) {
  return () => (root: Root) => {
    if (!keys.size) return
    eachLeaf(root, (leaf) => (leaf.type === 'text' ? cited(leaf.value, keys) : null))
  }
}

function cited(text: string, keys: ReadonlySet<string>): unknown[] | null {
  const out: unknown[] = []
  let at = 0
  for (const match of text.matchAll(/[ \t]?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g)) {
    const named = (match[1] ?? '').split(/\s*[,;]\s*/)
    if (!named.every((key) => keys.has(key))) continue
    out.push({ type: 'text', value: text.slice(at, match.index) })
    out.push(...named.map((key) => element('cite-mark', { 'data-key': key }, [])))
    at = match.index + match[0].length
  }
  return at ? [...out, { type: 'text', value: text.slice(at) }] : null
}

/** Finds runs of a text, in order and apart, each with a name for whoever draws it. */
export type Spans = (text: string) => readonly (Span & { name: string })[]

/** Wrap what `find` finds in each leaf of text in `<mention-mark data-name>`. */
export function remarkMentions(find: Spans | undefined) {
  return () => (root: Root) => {
    if (find) eachLeaf(root, (leaf) => (leaf.type === 'text' ? mentioned(leaf.value, find(leaf.value)) : null))
  }
}

function mentioned(text: string, spans: readonly (Span & { name: string })[]): unknown[] | null {
  if (!spans.length) return null
  const out: unknown[] = []
  let at = 0
  for (const { start, end, name } of spans) {
    if (start < at) continue
    out.push({ type: 'text', value: text.slice(at, start) })
    out.push(element('mention-mark', { 'data-name': name }, [{ type: 'text', value: text.slice(start, end) }]))
    at = end
  }
  return [...out, { type: 'text', value: text.slice(at) }]
}
