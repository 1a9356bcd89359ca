// What the looking-at server holds: an invented library, a day of metrics, an audit log.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const sample = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src', 'nuncius', 'notes')
const text = readFileSync(join(sample, 'hubble-tension.md'), 'utf8')
const paragraphs = text.split('\n\n')

const names = [
  ['aa11bb22', 'A second look at crowded Cepheids in the infrared', ['Okafor, N.', 'Brandt, L.', 'Silva, M.'], 2024],
  ['cc33dd44', 'Red giants as a check of the ladder', ['Lindqvist, T.', 'Moreau, C.'], 2025],
  ['ee55ff66', 'The sound horizon, again', ['Petrov, D.', 'Adeyemi, F.'], 2023],
  ['gg77hh88', 'Carbon dioxide in a hot Saturn: what one spectrum can carry', ['Tanaka, Y.', 'Ruiz, E.', 'Mbeki, S.'], 2022],
  ['ii99jj00', 'Lithium and the age of the nearest open cluster', ['Novak, P.'], 2019],
  ['kk11ll22', 'Timing noise in millisecond pulsars', ['Ferreira, J.', 'Holm, A.'], 2021],
  ['mm33nn44', '银河系中心的红外监测', ['王 晓'], 2020],
  ['oo55pp66', 'Faint galaxies and the end of reionisation', ['Dubois, C.', 'Eze, K.', 'Yilmaz, B.', 'Stone, R.'], 2024],
]
const journals = ['ApJ', 'MNRAS', 'A&A', 'arXiv', '']
const tags = [[], ['to read'], ['JWST', 'review'], [], ['chapter 2']]
const states = ['indexed', 'indexed', 'indexed', 'parsed', 'indexed', 'failed', 'downloaded', 'indexed']

const papers = Array.from({ length: 42 }, (_, at) => {
  const [id, title, authors, year] = names[at % names.length]
  const round = Math.floor(at / names.length)
  return {
    paper_id: round ? `${id.slice(0, 6)}${round}x` : id,
    title: round ? `${title} (part ${round + 1})` : title,
    authors, year: year - round, bibcode: null, arxiv_id: at % 2 ? `24${String(at).padStart(2, '0')}.0${1000 + at}` : null, doi: at % 2 ? null : `10.9999/demo.${at}`,
    cite_key: `${authors[0].split(/[ ,]/)[0]}${year - round}`, abstract: `We measure what can be measured of the ${title.toLowerCase()}, and say what cannot. The scatter is $\\sigma = 0.1${at}$ mag.`,
    state: states[at % states.length], files: [{ path: `/papers/${id}.pdf`, kind: 'pdf', size_bytes: 1_240_000, present: true, sha256: '' }],
    pages: 8 + (at % 19), language: 'en', label: round ? '' : at < 2 ? 'sample' : '', confidential: at === 4, added_at: new Date(Date.now() - at * 86_400_000).toISOString(),
    journal: journals[at % journals.length], tags: tags[at % tags.length], notes: at % 4, engine: 'pdfium/1', verdict: at % 6 ? 'good' : 'pages without text: 3, 7',
  }
})

const values = { year: (paper) => [String(paper.year)], author: (paper) => paper.authors, journal: (paper) => [paper.journal], tag: (paper) => paper.tags, state: (paper) => [paper.state] }
const fits = (paper, query, but = '') =>
  Object.entries(values).every(([kind, of]) => kind === but || !query.get(kind) || of(paper).includes(query.get(kind))) &&
  (query.get('q') ?? '').toLowerCase().split(/\s+/).every((word) => JSON.stringify(paper).toLowerCase().includes(word))

/** Papers that fit a query, and how often each value of a facet is among them. */
export const list = (query) => papers.filter((paper) => fits(paper, query))
export const facet = (query) => {
  const all = papers.filter((paper) => fits(paper, query, query.get('of'))).flatMap(values[query.get('of')]).filter(Boolean)
  return [...new Set(all)].map((value) => ({ value, count: all.filter((one) => one === value).length }))
}

const body = paragraphs.flatMap((paragraph, at) => (at % 4 === 0 ? [`<!-- page ${at / 4 + 1} -->`, paragraph] : [paragraph])).join('\n\n')

export const library = {
  papers,
  pdf: join(sample, 'pulsar-timing.pdf'),
  firstQuote: paragraphs.find((one) => one.length > 200 && !one.startsWith('#'))?.split('. ')[0] ?? '',
  content: (id) => ({
    paper_id: id, content: body, engine: 'pdfium/1', verdict: 'good', offset: 0, total_chars: body.length,
    sections: [...body.matchAll(/^(#{1,6}) (.*)$/gm)].map((match) => ({ path: match[2], title: match[2], page: 1 })),
  }),
}

export const tasks = [
  { id: 'task_1', kind: 'add', what: 'haugen2025.pdf', state: 'running', progress: 'page 12 of 20', fraction: 0.6, created_at: '', finished_at: '', papers: [], failures: [] },
  { id: 'task_2', kind: 'add', what: '10.9999/demo.7', state: 'failed', progress: '', fraction: 1, created_at: '', finished_at: '', papers: [], failures: [{ what: '10.9999/demo.7', error_kind: 'upstream', reason: 'The publisher’s page turned the request away (403).', hint: 'Add the PDF by hand, or try again later.' }] },
]

export const rules = [
  { id: 1, pattern: 'run_bash(git log *)', decision: 'allow', session_id: '', source: 'user', created_at: '2026-10-02T08:00:00Z' },
  { id: 2, pattern: 'file_write(notes/**)', decision: 'allow', session_id: 's-waits', source: 'session', created_at: '2026-11-11T08:00:00Z' },
  { id: 3, pattern: 'run_bash(rm *)', decision: 'deny', session_id: '', source: 'user', created_at: '2026-11-20T08:00:00Z' },
]

export const findings = [
  { name: 'python', state: 'ok', text: 'Python 3.12.4 on Linux, nuncius 0.1.0', mend: '' },
  { name: 'sandbox', state: 'ok', text: 'bubblewrap 0.9, seccomp filter loads', mend: '' },
  { name: 'ads', state: 'note', text: 'no token: searches go to arXiv only', mend: 'Get one at the ADS site and set ADS_API_TOKEN.' },
  { name: 'pdf', state: 'failed', text: 'the OCR extra is missing: scanned pages stay unread', mend: "pip install 'nuncius[ocr]'" },
]

const toolNames = ['rag_search', 'search_papers', 'download_paper', 'query_target', 'run_bash', 'get_paper_content']

export const auditRows = Array.from({ length: 320 }, (_, at) => {
  const tool = toolNames[at % toolNames.length]
  const type = ['tool_call', 'tool_result', 'permission_request', 'permission_resolved'][at % 4]
  const outcome = { tool_call: '', tool_result: at % 28 === 1 ? 'upstream' : 'ok', permission_request: '', permission_resolved: at % 12 === 3 ? 'deny once by user' : 'allow session by user' }[type]
  const digest = ((at + 7) * 2654435761 % 4294967296).toString(16).padStart(8, '0')
  return { id: at + 1, session_id: at % 3 ? 's-hubble' : 's-waits', seq: at, turn_id: 't1', agent: at % 9 ? 'main' : 'reader', time: new Date(Date.now() - (320 - at) * 97_000).toISOString(), type, tool, tool_call_id: `c${at}`, outcome, event_sha256: digest, chain_sha256: digest.repeat(8) }
})

const wave = (at, base) => Math.round(base * (1.6 + Math.sin(at / 3) + 0.4 * Math.sin(at * 1.7)))

const used = (at) => ({ input_tokens: wave(at, 60_000), cached_tokens: wave(at, 34_000), output_tokens: wave(at + 2, 3100), reasoning_tokens: 900, cost_usd: wave(at, 100) / 700 })

export const metrics = {
  session_id: '', turns: { completed: 57, cancelled: 3, failed: 1 }, model_calls: 288, errors: { upstream: 4, timeout: 2 },
  usage: { input_tokens: 1_842_000, output_tokens: 96_400, cached_tokens: 1_102_000, reasoning_tokens: 31_000, cost_usd: 4.31 },
  days: Array.from({ length: 30 }, (_, at) => ({ day: new Date(Date.now() - (30 - at) * 86_400_000).toISOString().slice(0, 10), model_calls: 9, usage: used(at) })),
  tools: toolNames.map((name, at) => ({ name, runs: 140 - at * 22, errors: at % 3, open: 0, total_ms: 90_000, median_ms: [180, 1900, 4200, 640, 90, 45][at], p95_ms: [420, 5200, 11800, 2100, 2400, 110][at], longest_ms: 15_000 })),
}
