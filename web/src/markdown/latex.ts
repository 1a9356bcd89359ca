/** Formulas leave the page as the LaTeX they were written in. */

/** Return the text of a part of the page with each formula in dollars. */
export function withLatex(part: DocumentFragment): string {
  part.querySelectorAll('.katex').forEach((formula) => {
    const tex = formula.querySelector('annotation')?.textContent ?? ''
    const display = formula.parentElement?.classList.contains('katex-display')
    formula.replaceWith(display ? `$$${tex}$$` : `$${tex}$`)
  })
  // What is there for the eye or the ear only is no part of the text.
  part.querySelectorAll('.cite-card, .hidden-text, .page-anchor, .host').forEach((node) => node.remove())
  return part.textContent
}

/** Tell whether a selection holds a formula, whole or in part. */
export function holdsFormula(range: Range): boolean {
  const around = range.commonAncestorContainer
  const node = around instanceof Element ? around : around.parentElement
  return node?.closest('.katex') !== null || range.cloneContents().querySelector('.katex') !== null
}
