import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogues, fill, isWord, translator } from './index'

const { en, zh } = catalogues
const words = Object.keys(en) as (keyof typeof en)[]

function names(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)/g)].map((match) => match[1] ?? ''))].sort()
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((one) => {
    const path = join(folder, one.name)
    if (one.isDirectory()) return sources(path)
    return /(?<!\.test)\.tsx?$/.test(one.name) ? [readFileSync(path, 'utf8')] : []
  })
}

test('both catalogues have the same words, none empty', () => {
  expect(Object.keys(zh).sort()).toEqual([...words].sort())
  for (const word of words) {
    expect(en[word].trim(), word).not.toBe('')
    expect(zh[word].trim(), word).not.toBe('')
  }
})

test('a translation fills in the same values', () => {
  for (const word of words) expect(names(zh[word]), word).toEqual(names(en[word]))
})

test('every Chinese entry is Chinese, unless it is a sign, a name or a number', () => {
  const same = words.filter((word) => !/[\u4e00-\u9fff]/.test(zh[word]))
  expect(same.sort()).toEqual(['metrics.p95', 'reader.pdf'])
})

test('every word that the source names is there, and every word there is named', () => {
  const code = sources(join(process.cwd(), 'src')).join('\n')
  const stems = [...code.matchAll(/`([a-zA-Z]+)\.\$\{/g)].map((match) => `${match[1]}.`)
  const named = [...code.matchAll(/\bt\(\s*'([\w.]+)'/g)].map((match) => match[1] ?? '')
  for (const word of named) expect(isWord(word), word).toBe(true)
  const unused = words.filter((word) => !code.includes(`'${word}'`) && !stems.some((stem) => word.startsWith(stem)) && !/^(tool|doing)\./.test(word))
  expect(unused).toEqual([])
})

test('numbers choose their form', () => {
  expect(translator('en')('work.tools', { n: 1 })).toBe('1 tool')
  expect(translator('en')('work.tools', { n: 7 })).toBe('7 tools')
  expect(translator('zh')('work.tools', { n: 7 })).toBe('7 次工具调用')
  expect(fill('{a} {b}', { a: 'x' })).toBe('x {b}')
})
