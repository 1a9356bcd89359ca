/** How well a paper's text could be read, in words. */
import { isWord, type Translate } from '../words'

/** What read it, such as `pdfium/1`: the format in words, and the name and version behind it. */
export function engineInWords(engine: string, t: Translate): string {
  const word = `engine.${engine.split('/')[0]}`
  return isWord(word) ? t(word) : engine
}

/** `good`, or faults with semicolons between; one that is not known here is shown as it is. */
export function verdictInWords(verdict: string, t: Translate): string {
  return verdict === 'good' ? t('verdict.good') : verdict.split('; ').map((fault) => faultInWords(fault, t)).join(' ')
}

function faultInWords(fault: string, t: Translate): string {
  const pages = /^pages (without text|that could not be opened): (.+)$/.exec(fault)
  if (pages?.[2]) {
    const numbers = pages[2].replace(/ and (\d+) more$/, (_, n: string) => t('verdict.more', { n }))
    return t(pages[1] === 'without text' ? 'verdict.bare' : 'verdict.broken', { pages: numbers })
  }
  const parts = /^(\d+) parts were not converted by LaTeXML$/.exec(fault)
  if (parts?.[1]) return t('verdict.parts', { n: Number(parts[1]) })
  return fault.startsWith('not followed: ') ? t('verdict.included') : fault
}
