/** Hostile text never becomes a tag, an attribute or a load. */
import { render } from '@testing-library/react'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Markdown, preloadFormulas } from './Markdown'

interface Case {
  id: string
  context: string
  input: string | { $concat: [string, number][] }
  must_not_appear: string[]
  must_appear?: string[]
}

await preloadFormulas()

const corpus = resolve(process.cwd(), '../../shared/data/attacks/markdown_xss.jsonl')
/** Raw bytes of other rooms: nothing of them is drawn here. */
const elsewhere = new Set(['sse_data', 'log_text', 'download_filename', 'csv_export'])

const own: Case[] = [
  { id: 'own-svg', context: 'markdown', input: '<svg onload=alert(1)>', must_not_appear: ['<svg'] },
  { id: 'own-link', context: 'markdown', input: '[x](JaVaScRiPt:alert(1))', must_not_appear: ['href'] },
  { id: 'own-file', context: 'markdown', input: '[x](file:///etc/passwd) [y](/api/x) [z](#/settings)', must_not_appear: ['href'] },
  { id: 'own-image', context: 'markdown', input: '![a](https://evil.example/?q=1)', must_not_appear: ['<img', 'src='] },
  { id: 'own-color', context: 'latex', input: '$\\color{url(x)}y$', must_not_appear: ['url('] },
  { id: 'own-sub', context: 'markdown', input: 'CO<sub>2</sub> <sup onclick=x>1</sup>', must_not_appear: ['onclick'], must_appear: ['<sub>2</sub>'] },
  { id: 'own-lists', context: 'markdown', input: { $concat: [['- ', 3000], ['x', 1]] }, must_not_appear: ['<script'] },
  { id: 'own-emphasis', context: 'markdown', input: { $concat: [['**a *b ', 3000]] }, must_not_appear: ['<script'] },
  { id: 'own-images', context: 'markdown', input: { $concat: [['![', 5000], ['x', 1]] }, must_not_appear: ['<img'] },
]

/** Real start tags with their attributes, lower case: escaped text is harmless. */
function active(root: Element): string {
  return [...root.querySelectorAll('*')]
    .map((node) => `<${node.tagName}${[...node.attributes].map((one) => ` ${one.name}="${one.value}"`).join('')}>`)
    .join('\n')
    .toLowerCase()
}

function spelled(input: Case['input']): string {
  return typeof input === 'string' ? input : input.$concat.map(([text, times]) => text.repeat(times)).join('')
}

function check(one: Case): void {
  const { container } = render(<Markdown text={spelled(one.input)} />)
  const tags = active(container)
  for (const word of one.must_not_appear) {
    // Unicode tag characters are looked for in the text itself, all else in tags.
    const where = /[\ud800-\udfff]/.test(word) ? container.textContent : tags
    expect(where).not.toContain(word.toLowerCase())
  }
  // Only what a machine nests is shown as it is written: the rest must have gone through the reader.
  if (typeof one.input === 'string') expect(container.querySelector('pre.terminal')).toBeNull()
  for (const word of one.must_appear ?? []) expect(container.innerHTML).toContain(word)
}

describe('hostile text of our own', () => {
  test.each(own)('$id', check)
})

describe.skipIf(!existsSync(corpus))('the shared corpus', () => {
  const cases = existsSync(corpus)
    ? readFileSync(corpus, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Case)
        .filter((one) => !elsewhere.has(one.context))
    : []
  test.each(cases)('$id', check)
})
