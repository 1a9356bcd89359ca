/** Text of models and papers as React nodes: no raw HTML, no load from anywhere, links with their host. */
import { type ClipboardEvent, type ReactNode, useEffect, useMemo, useState } from 'react'
import toNodes, { type Components, type Options } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { holdsFormula, withLatex } from './latex'
import { onlyMath, remarkLimitMath, withMath } from './math'
import { type Mark, remarkCitations, remarkMarks, remarkMentions, type Spans } from './marks'
import { remarkPlainTags } from './plainTags'
import './markdown.css'

type Plugins = NonNullable<Options['rehypePlugins']>

let katex: Plugins | null = null

/** KaTeX is large and most texts hold no formula: it comes when the first one does. */
export async function preloadFormulas(): Promise<Plugins> {
  const { rehypeFormulas } = await import('./formulas')
  katex = [rehypeFormulas]
  return katex
}

function useKatex(needed: boolean): Plugins {
  const [plugins, setPlugins] = useState(katex)
  useEffect(() => {
    if (!needed || plugins) return
    let wanted = true
    void preloadFormulas().then((loaded) => {
      if (wanted) setPlugins(loaded)
    })
    return () => {
      wanted = false
    }
  }, [needed, plugins])
  return plugins ?? []
}

interface Given {
  text: string
  /** Keys of the answer's citations, and what stands for each in the text. */
  citationKeys?: readonly string[]
  citation?: (key: string) => ReactNode
  marks?: readonly Mark[]
  /** What is drawn for a mark, around the text that it covers. */
  mark?: (id: string, kind: string, ends: boolean, children: ReactNode) => ReactNode
  /** Finds what else of the text is drawn in a way of its own, and what it is named. */
  mentions?: Spans | undefined
  mention?: (name: string, children: ReactNode) => ReactNode
  className?: string
}

const noMarks: readonly Mark[] = []
const noKeys: readonly string[] = []

export function Markdown({ text, citationKeys = noKeys, citation, marks = noMarks, mark, mentions, mention, className = '' }: Given) {
  const plugins = useKatex(/[$]|\\[[(]/.test(text))
  const nodes = useMemo(
    () => render(text, { citationKeys, citation, marks, mark, mentions, mention, plugins }),
    [text, citationKeys, citation, marks, mark, mentions, mention, plugins],
  )
  return (
    <div className={`prose ${className}`} onCopy={copyWithLatex}>
      {nodes}
    </div>
  )
}

interface Parts {
  citationKeys: readonly string[]
  citation: Given['citation']
  marks: readonly Mark[]
  mark: Given['mark']
  mentions: Given['mentions']
  mention: Given['mention']
  plugins: Plugins
}

function render(text: string, parts: Parts): ReactNode {
  const shown = cleaned(text)
  if (isKnot(shown)) return <pre className="terminal">{shown}</pre>
  try {
    return toNodes({
      children: withMath(shown),
      remarkPlugins: [
        remarkGfm,
        remarkMath,
        remarkLimitMath,
        remarkPlainTags,
        remarkMarks(parts.marks),
        remarkCitations(new Set(parts.citationKeys)),
        remarkMentions(parts.mentions),
      ],
      rehypePlugins: parts.plugins,
      urlTransform: webOnly,
      components: components(parts),
    })
  } catch (error) {
    console.warn('This text is shown as it is written:', error)
    // No Markdown reader is sure to survive every text; the text itself is always there.
    return <pre className="terminal">{shown}</pre>
  }
}

/** Tag characters are invisible and can carry hidden words; surrogates without a partner are no text. */
function cleaned(text: string): string {
  return text.replace(/[\u{e0000}-\u{e007f}]/gu, '').replace(/\0/g, '\ufffd')
}

const MOST_NESTED = 50

/** Tell text that only a machine writes: what nests deeper than any paper costs the reader seconds. */
function isKnot(text: string): boolean {
  if (/^(?:[ \t]*(?:>|[-*+][ \t]|\d+[.)][ \t])){50}/m.test(text)) return true
  const brackets = text.match(/\[[^\]\n]{0,200}\]\((?=\[)|\[(?=\[)|!\[(?=!?\[)/g)
  return (brackets?.length ?? 0) > MOST_NESTED * 4
}

/** Only http and https lead out; all else (script, data, files, our own API) leads nowhere. */
export function webOnly(url: string): string {
  return /^https?:\/\/[^/\s]/i.test(url) ? url : ''
}

export function hostOf(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return ''
  }
}

export function OutLink({ href, children }: { href: string; children: ReactNode }) {
  const host = hostOf(href)
  if (!host || !webOnly(href)) return <span>{children}</span>
  const named = typeof children === 'string' && children.includes(host)
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      {named ? null : <span className="host"> ({host})</span>}
    </a>
  )
}

type Extra = { node?: { properties?: Record<string, unknown> } | undefined; children?: ReactNode }

function components({ citation, mark, mention }: Parts): Components {
  const property = (extra: Extra, name: string) => {
    const value = extra.node?.properties?.[name]
    return typeof value === 'string' ? value : ''
  }
  const own = {
    a: ({ href, children }: { href?: string; children?: ReactNode }) => (
      <OutLink href={href ?? ''}>{children}</OutLink>
    ),
    img: ({ src, alt }: { src?: string; alt?: string }) => (
      <span className="image-link">
        <OutLink href={src ?? ''}>{alt || 'image'}</OutLink>
      </span>
    ),
    // The words after a fence would become a class of ours: they are nothing but a name for people.
    code: ({ children }: Extra) => <code>{children}</code>,
    table: ({ children }: Extra) => (
      <div className="table-frame" tabIndex={0}>
        <table>{children}</table>
      </div>
    ),
    // A task list's boxes tell, they are not for pressing.
    input: ({ checked }: { checked?: boolean }) => <span>{checked ? '☑ ' : '☐ '}</span>,
    'cite-mark': (extra: Extra) => {
      const key = property(extra, 'dataKey') || property(extra, 'data-key')
      return citation ? citation(key) : <sup>{key}</sup>
    },
    'mention-mark': (extra: Extra) => {
      const name = property(extra, 'dataName') || property(extra, 'data-name')
      return mention ? mention(name, extra.children) : <>{extra.children}</>
    },
    mark: (extra: Extra) => {
      const id = property(extra, 'dataMark') || property(extra, 'data-mark')
      const kind = property(extra, 'dataKind') || property(extra, 'data-kind')
      const ends = Boolean(property(extra, 'dataEnds') || property(extra, 'data-ends'))
      return mark ? (
        mark(id, kind, ends, extra.children)
      ) : (
        <mark data-kind={kind} data-mark={id}>
          {extra.children}
        </mark>
      )
    },
  }
  return own as unknown as Components
}

/** Formulas copy as the LaTeX they were written in. */
function copyWithLatex(event: ClipboardEvent): void {
  const selection = window.getSelection()
  if (!selection || selection.isCollapsed || !holdsFormula(selection.getRangeAt(0))) return
  event.clipboardData.setData('text/plain', withLatex(selection.getRangeAt(0).cloneContents()))
  event.preventDefault()
}

const inlineBlocks = { p: ({ children }: Extra) => <>{children}</> } as unknown as Components

/** A stored quote: its formulas are set, all else stands as it is stored. It fits into a sentence. */
export function Quoted({ text }: { text: string }) {
  const plugins = useKatex(/[$]|\\[[(]/.test(text))
  return useMemo(() => {
    if (!plugins.length) return text
    try {
      return toNodes({
        children: onlyMath(cleaned(text)),
        remarkPlugins: [remarkMath, remarkLimitMath],
        rehypePlugins: plugins,
        urlTransform: () => '',
        components: inlineBlocks,
      })
    } catch (error) {
      console.warn('This quote is shown as it is written:', error)
      return text
    }
  }, [text, plugins])
}
