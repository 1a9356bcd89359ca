/** Which dollars are mathematics and which are money, and how much of either is too much. */
import type { Root } from 'mdast'
import { eachLeaf } from './tree'

const CODE = /(^|\n)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n\2[`~]*[ \t]*(?=\n|$)|$)|(`+)(?!`)[\s\S]*?[^`]\3(?!`)/g

/** Write `\( \)` and `\[ \]` with dollars and escape dollars that open no formula; code stays as it is. */
export function withMath(text: string): string {
  if (!/[$\\]/.test(text)) return text
  let out = ''
  let at = 0
  for (const match of text.matchAll(CODE)) {
    out += prose(text.slice(at, match.index)) + match[0]
    at = match.index + match[0].length
  }
  return out + prose(text.slice(at))
}

function prose(text: string): string {
  const spelled = text
    .replace(/\\\[([\s\S]{1,4000}?)\\\]/g, (_, tex: string) => `\n\n$$\n${tex.trim()}\n$$\n\n`)
    .replace(/\\\(([\s\S]{1,2000}?)\\\)/g, (_, tex: string) => `$${tex.trim()}$`)
  return guarded(spelled)
}

/**
 * A formula opens with a dollar before something that is no blank and closes with one after something that is
 * no blank and before something that is no digit, in the same paragraph: `$5 and $10` is money.
 */
function guarded(text: string): string {
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '\\') {
      out += text.slice(at, at + 2)
      at++
    } else if (char !== '$') {
      out += char
    } else if (text.startsWith('$$', at)) {
      const end = text.indexOf('$$', at + 2)
      const stop = end < 0 ? at + 2 : end + 2
      out += end < 0 ? '\\$\\$' : text.slice(at, stop)
      at = stop - 1
    } else {
      const end = closing(text, at)
      out += end < 0 ? '\\$' : text.slice(at, end + 1)
      if (end >= 0) at = end
    }
  }
  return out
}

const FORMULA = /(\$\$[\s\S]+?\$\$|(?<!\\)\$(?:\\.|[^$\\])+\$)/

/** One line of Markdown in which formulas are all that is markup. */
export function onlyMath(text: string): string {
  return withMath(text)
    .replace(/\s+/g, ' ')
    .split(FORMULA)
    .map((part, place) => {
      if (place % 2) return part.replace(/^\$\$ ?/, '$').replace(/ ?\$\$$/, '$')
      return part.replace(/\\\$/g, '$').replace(/[\\`*_{}[\]()#+\-.!|<>~$&]/g, '\\$&')
    })
    .join('')
    .trim()
}

const LONGEST_INLINE = 1000

function closing(text: string, open: number): number {
  if (/[\s$]|^$/.test(text.charAt(open + 1))) return -1
  for (let at = open + 1; at < text.length && at < open + LONGEST_INLINE; at++) {
    const char = text.charAt(at)
    if (char === '\\') at++
    else if (char === '\n' && text.charAt(at + 1) === '\n') return -1
    else if (char === '$') {
      return /\s/.test(text.charAt(at - 1)) || /\d/.test(text.charAt(at + 1)) ? -1 : at
    }
  }
  return -1
}

const LONGEST = 8000
const DEEPEST = 60

export function tooMuchMath(tex: string): boolean {
  if (tex.length > LONGEST) return true
  let depth = 0
  for (const char of tex) {
    if (char === '{') depth++
    else if (char === '}') depth--
    if (depth > DEEPEST) return true
  }
  return false
}

/** A formula that is too large to set is shown as it is written. */
export function remarkLimitMath() {
  return (root: Root) => {
    eachLeaf(root, (leaf) => {
      if ((leaf.type === 'inlineMath' || leaf.type === 'math') && tooMuchMath(leaf.value)) {
        return [{ type: 'inlineCode', value: leaf.value.slice(0, 200) + '…' }]
      }
      return null
    })
  }
}
