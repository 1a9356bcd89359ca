/** Marks on the text layer of a PDF, letter by letter, without a change to the layer. */
import { locate, type Span } from '../markdown/marks'

const NAME = 'pdf-mark'

function registered(): Highlight | null {
  if (!('highlights' in CSS)) return null
  const known = CSS.highlights.get(NAME) ?? new Highlight()
  CSS.highlights.set(NAME, known)
  return known
}

/** Mark a part of a run of text, or all of it where the browser knows no highlights; return what undoes it. */
export function markRun(run: HTMLElement, { start, end }: Span): () => void {
  const highlights = registered()
  const letters = run.firstChild
  if (!highlights || !letters) {
    run.classList.add(NAME)
    return () => run.classList.remove(NAME)
  }
  const length = letters.textContent?.length ?? 0
  const range = new Range()
  range.setStart(letters, Math.min(start, length))
  range.setEnd(letters, Math.min(end, length))
  highlights.add(range)
  return () => highlights.delete(range)
}

const LINE_NUMBER = /^\s*\d{1,4}\s*$/

/** Find a quote in a page's runs of text, also where numbers of lines stand between them. */
export function inLayer(runs: readonly string[], wanted: string): Map<number, Span> {
  const found = locate(runs, wanted)
  return found.size ? found : locate(runs.map((run) => (LINE_NUMBER.test(run) ? '' : run)), wanted)
}
