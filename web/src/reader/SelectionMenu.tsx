/** What one can do with selected text: highlight, note, ask, copy with citation. */
import { Copy, Highlighter, MessageCircleQuestionMark, StickyNote } from 'lucide-react'
import { useEffect, useState } from 'react'
import { holdsFormula, withLatex } from '../markdown/latex'
import { useWords } from '../words'

export interface Chosen {
  text: string
  page: number | null
  x: number
  y: number
}

/** Follow the selection inside `frame`; what is shorter than a word or longer than a page is none. */
export function useChosen(frame: React.RefObject<HTMLElement | null>): [Chosen | null, () => void] {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  useEffect(() => {
    const look = () => {
      const selection = document.getSelection()
      const node = frame.current
      if (!selection || selection.isCollapsed || !node) return setChosen(null)
      const range = selection.getRangeAt(0)
      const inside = range.commonAncestorContainer
      const text = (holdsFormula(range) ? withLatex(range.cloneContents()) : selection.toString()).replace(/\s+/g, ' ').trim()
      if (!node.contains(inside) || text.length < 2 || text.length > 6000) return setChosen(null)
      const [from, to] = [range.startContainer, range.endContainer].map(pageOf)
      const page = from === to ? from : undefined // over a page's end it stands on neither alone
      const box = range.getBoundingClientRect()
      setChosen({ text, page: page ? Number(page) : null, x: box.left + box.width / 2, y: box.top })
    }
    let timer = 0
    const soon = () => {
      clearTimeout(timer)
      timer = window.setTimeout(look, 180)
    }
    document.addEventListener('selectionchange', soon)
    // The menu stands where the text was: it comes back when the scrolling is over.
    const moved = () => {
      setChosen(null)
      soon()
    }
    const node = frame.current
    node?.addEventListener('scroll', moved, true)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('selectionchange', soon)
      node?.removeEventListener('scroll', moved, true)
    }
  }, [frame])
  const clear = () => {
    document.getSelection()?.removeAllRanges()
    setChosen(null)
  }
  return [chosen, clear]
}

function pageOf(node: Node): string | undefined {
  const element = node instanceof Element ? node : node.parentElement
  return element?.closest<HTMLElement>('[data-page]')?.dataset.page
}

interface Given {
  chosen: Chosen
  onHighlight: () => void
  onNote: () => void
  onAsk: () => void
  onCopy: () => void
}

export function SelectionMenu({ chosen, onHighlight, onNote, onAsk, onCopy }: Given) {
  const t = useWords()
  const x = Math.max(170, Math.min(window.innerWidth - 170, chosen.x))
  const acts = [
    [Highlighter, t('reader.highlight'), onHighlight],
    [StickyNote, t('reader.note'), onNote],
    [MessageCircleQuestionMark, t('reader.ask'), onAsk],
    [Copy, t('reader.cite'), onCopy],
  ] as const
  return (
    // Pressing a button must not take the selection away before it is used.
    <div
      className="selection-menu"
      role="toolbar"
      aria-label={t('reader.selection')}
      style={{ left: x, top: Math.max(8, chosen.y - 44) }}
      onMouseDown={(event) => event.preventDefault()}
    >
      {acts.map(([Icon, words, act]) => (
        <button key={words} className="button quiet small" onClick={act}>
          <Icon aria-hidden /> {words}
        </button>
      ))}
    </div>
  )
}
