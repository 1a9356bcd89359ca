/** BibTeX from what a citation knows; the library's own export knows more. */

export interface Citable {
  paper_id: string
  title: string
  authors: readonly string[]
  year: number | null
  doi: string | null
  arxiv_id: string | null
  bibcode: string | null
}

const escapes: Record<string, string> = {
  '\\': '\\textbackslash{}', '{': '\\{', '}': '\\}', '%': '\\%', '&': '\\&', '#': '\\#', _: '\\_', $: '\\$',
}

function escaped(text: string): string {
  return text.replace(/[\\{}%&#_$]/g, (char) => escapes[char] ?? char)
}

export function bibtexOf(papers: readonly Citable[]): string {
  return papers
    .map((paper) => {
      const fields = [
        ['title', `{${escaped(paper.title)}}`],
        ['author', escaped(paper.authors.join(' and '))],
        ['year', paper.year ? String(paper.year) : ''],
        ['doi', paper.doi ?? ''],
        ['eprint', paper.arxiv_id ?? ''],
        ['archivePrefix', paper.arxiv_id ? 'arXiv' : ''],
        ['adsurl', paper.bibcode ? `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(paper.bibcode)}` : ''],
      ].filter(([, value]) => value)
      const lines = fields.map(([name, value]) => `  ${name} = {${value}},`)
      return `@article{${paper.bibcode ?? paper.paper_id},\n${lines.join('\n')}\n}\n`
    })
    .join('\n')
}
