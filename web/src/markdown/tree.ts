/** Walks through Markdown's tree: leaves with text in reading order. */
import type { Nodes, Root, RootContent } from 'mdast'

/** Formulas come from remark-math, wrapped marks from us: mdast's own union knows neither. */
export interface Leaf {
  type: 'text' | 'inlineCode' | 'inlineMath' | 'math' | 'code' | 'html'
  value: string
}

const leafTypes = new Set(['text', 'inlineCode', 'inlineMath', 'math', 'code', 'html'])
const blockTypes = new Set(['paragraph', 'heading', 'tableCell', 'listItem', 'code', 'math'])

/** Visit all leaves in order; what a visit returns stands in the leaf's place. */
export function eachLeaf(
  node: Root | Nodes,
  visit: (leaf: Leaf, startsBlock: boolean) => readonly unknown[] | null,
): void {
  let fresh = true
  // A stack of our own: text of five thousand nested quotes must not end the page.
  const walk = (start: Root | Nodes) => {
    const stack: { parent: { children: unknown[] }; at: number }[] = []
    if ('children' in start) stack.push({ parent: start, at: 0 })
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const child = top.parent.children[top.at] as RootContent | undefined
      if (!child) {
        stack.pop()
        continue
      }
      top.at++
      if (blockTypes.has(child.type)) fresh = true
      if (leafTypes.has(child.type)) {
        const instead = visit(child as unknown as Leaf, fresh)
        fresh = false
        if (instead) {
          top.parent.children.splice(top.at - 1, 1, ...instead)
          top.at += instead.length - 1
        }
      } else if ('children' in child) {
        stack.push({ parent: child, at: 0 })
      }
    }
  }
  walk(node)
}

/** An element of our own making in Markdown's tree. */
export function element(name: string, properties: Record<string, string>, children: readonly unknown[]) {
  return { type: 'nuncius', data: { hName: name, hProperties: properties }, children: [...children] }
}
