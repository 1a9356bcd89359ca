/** The few tags without attributes that titles and papers carry; every other tag stays text. */
import type { Root } from 'mdast'
import { element } from './tree'

const ALLOWED = /^<(\/?)(sub|sup|i|b|em|strong)>$/i
const BREAK = /^<br\s*\/?>$/i

interface Parent {
  children: unknown[]
}

export function remarkPlainTags() {
  return (root: Root) => {
    const waiting: Parent[] = [root]
    for (let parent = waiting.pop(); parent; parent = waiting.pop()) {
      parent.children = paired(parent.children)
      for (const child of parent.children) {
        if (typeof child === 'object' && child !== null && 'children' in child) waiting.push(child as Parent)
      }
    }
  }
}

/** Put what stands between `<sub>` and `</sub>` into an element; a tag without its partner stays text. */
function paired(children: readonly unknown[]): unknown[] {
  const out: unknown[] = []
  const open: { name: string; place: number }[] = []
  for (const child of children) {
    const node = child as { type: string; value?: string }
    const value = node.type === 'html' ? (node.value ?? '') : ''
    if (BREAK.test(value)) {
      out.push({ type: 'break' })
      continue
    }
    const tag = ALLOWED.exec(value)
    const name = tag?.[2]?.toLowerCase() ?? ''
    if (!tag) out.push(child)
    else if (!tag[1]) {
      open.push({ name, place: out.length })
      out.push(child)
    } else {
      const from = open.findLastIndex((one) => one.name === name)
      const place = open[from]?.place
      if (place === undefined) out.push(child)
      else {
        open.splice(from)
        const inner = out.splice(place).slice(1)
        out.push(element(name, {}, inner))
      }
    }
  }
  return out
}
