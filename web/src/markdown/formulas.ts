/** KaTeX, loaded when the first formula is shown. Nothing in it may load, link or name anything. */
import type { Element, Root } from 'hast'
import rehypeKatex from 'rehype-katex'
import 'katex/dist/katex.min.css'

const settings = {
  trust: false,
  strict: 'ignore' as const,
  maxSize: 20,
  maxExpand: 200,
  errorColor: 'currentColor',
}

export function rehypeFormulas() {
  const set = rehypeKatex(settings)
  return (root: Root, file: Parameters<typeof set>[1]) => {
    set(root, file)
    quiet(root)
  }
}

/** KaTeX writes its complaint, with the author's text, into an attribute; the source alone is enough. */
function quiet(root: Root): void {
  const waiting: (Root | Element)[] = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    for (const child of node.children) {
      if (child.type !== 'element') continue
      const names = child.properties.className
      if (Array.isArray(names) && names.includes('katex-error')) {
        delete child.properties.title
        delete child.properties.style
      }
      waiting.push(child)
    }
  }
}
