/** Reading what a tool's metadata holds: it comes from many versions and from foreign tools. */
import type { FoundPaper, Target } from '../../api/shapes'

type Facts = Record<string, unknown>

export function isFacts(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(facts: Facts, field: string): string {
  const value = facts[field]
  return typeof value === 'string' ? value : ''
}

export function numberOf(facts: Facts, field: string): number | null {
  const value = facts[field]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export function listOf(facts: Facts, field: string): unknown[] {
  const value = facts[field]
  return Array.isArray(value) ? value : []
}

export function textsOf(facts: Facts, field: string): string[] {
  return listOf(facts, field).filter((one) => typeof one === 'string')
}

export function foundPapers(facts: Facts): FoundPaper[] {
  return listOf(facts, 'papers')
    .filter(isFacts)
    .map((one) => ({
      paper_id: textOf(one, 'paper_id'),
      state: textOf(one, 'state'),
      title: textOf(one, 'title'),
      authors: textsOf(one, 'authors'),
      author_count: numberOf(one, 'author_count'),
      year: numberOf(one, 'year'),
      journal: textOf(one, 'journal'),
      bibcode: textOf(one, 'bibcode'),
      arxiv_id: textOf(one, 'arxiv_id'),
      doi: textOf(one, 'doi'),
      abstract: textOf(one, 'abstract'),
      citation_count: numberOf(one, 'citation_count'),
      refereed: typeof one.refereed === 'boolean' ? one.refereed : null,
      status: textOf(one, 'status'),
    }))
}

export function asTarget(facts: Facts): Target {
  const pm = facts.pm
  const numbers = (value: unknown) =>
    Object.fromEntries(Object.entries(isFacts(value) ? value : {}).filter(([, one]) => typeof one === 'number')) as Record<string, number>
  return {
    asked: textOf(facts, 'asked'),
    name: textOf(facts, 'name'),
    kind: textOf(facts, 'kind'),
    ra_deg: numberOf(facts, 'ra_deg'),
    dec_deg: numberOf(facts, 'dec_deg'),
    frame: textOf(facts, 'frame') || null,
    epoch: textOf(facts, 'epoch') || null,
    error_arcsec: numberOf(facts, 'error_arcsec'),
    object_type: textOf(facts, 'object_type'),
    type_text: textOf(facts, 'type_text'),
    resolver: textOf(facts, 'resolver'),
    aliases: textsOf(facts, 'aliases'),
    pm: isFacts(pm) ? { ra_mas_yr: numberOf(pm, 'ra_mas_yr'), dec_mas_yr: numberOf(pm, 'dec_mas_yr') } : null,
    parallax_mas: numberOf(facts, 'parallax_mas'),
    velocity_km_s: numberOf(facts, 'velocity_km_s'),
    redshift: numberOf(facts, 'redshift'),
    magnitudes: numbers(facts.magnitudes),
    measured: (isFacts(facts.measured) ? facts.measured : {}) as Target['measured'],
    spectral_type: textOf(facts, 'spectral_type'),
    references: numberOf(facts, 'references'),
    cached_at: textOf(facts, 'cached_at') || null,
    notes: textsOf(facts, 'notes'),
  }
}

export interface ShownPassage {
  id: string
  paperId: string
  title: string
  place: string
  sentences: string[]
}

/**
 * Read the passages of a tool's output as the model read them: `# id · title`, then `[handle] p. 3 · section`,
 * then `3| sentence`.
 */
export function shownPassages(output: string): ShownPassage[] {
  const found: ShownPassage[] = []
  let title = ''
  for (const line of output.split('\n')) {
    const paper = /^# ([a-z0-9]{8}) · (.*)$/.exec(line)
    const head = /^\[(([a-z0-9]{8})-\d{1,6})\] (.*)$/.exec(line)
    const sentence = /^\d{1,4}\| (.*)$/.exec(line)
    if (paper) title = (paper[2] ?? '').replace(/ · [^·]*$/, '')
    else if (head) {
      const place = (head[3] ?? '').replace(/ · match \d+%/, '')
      found.push({ id: head[1] ?? '', paperId: head[2] ?? '', title, place, sentences: [] })
    } else if (sentence) found.at(-1)?.sentences.push(sentence[1] ?? '')
  }
  return found
}
