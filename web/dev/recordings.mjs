// Conversations of our own making, as the server records them. They are for looking at the page, nothing
// more: papers, numbers and quotes are invented.

/** Number events and give them a time, `gap` seconds apart unless they say otherwise. */
export function record(sessionId, startedAt, drafts) {
  let at = Date.parse(startedAt)
  return drafts.map(({ after = 1, ...draft }, index) => {
    at += after * 1000
    return {
      v: 1, seq: index + 1, session_id: sessionId, turn_id: 't1', step: 1, agent: 'main',
      time: new Date(at).toISOString(), ...draft,
    }
  })
}

export const started = (message, more = {}) => ({ type: 'turn_started', message, model: 'demo-large', mode: 'ask', enable_thinking: true, ...more })
export const thinks = (text, more = {}) => ({ type: 'thinking_delta', text, ...more })
export const says = (text, more = {}) => ({ type: 'text_delta', text, ...more })
export const calls = (id, name, args, more = {}) => ({ type: 'tool_call', id, tool_call_id: id, name, arguments: args, original: null, ...more })
export const gives = (id, name, output, metadata = {}, more = {}) => ({
  type: 'tool_result', id, tool_call_id: id, name, output, is_error: false, error_kind: null, metadata, duration_ms: 840, ...more,
})
export const used = (input, output, more = {}) => ({
  type: 'usage', input_tokens: input, output_tokens: output, cached_tokens: Math.round(input * 0.6), reasoning_tokens: 200, cost_usd: input * 1e-6 + output * 4e-6, ...more,
})
export const ends = (status = 'completed', error = '') => ({ type: 'turn_finished', status, error })

const work = (paper_id, title, authors, year, journal, more = {}) => ({
  paper_id, state: paper_id ? 'indexed' : '', title, authors, author_count: authors.length, year, journal, bibcode: '', arxiv_id: '',
  doi: '', abstract: '', citation_count: 12, refereed: true, status: '', ...more,
})

const cite = (key, paper_id, title, authors, year, quote, page, section, check = 'exact') => ({
  key, paper_id, bibcode: null, doi: null, arxiv_id: null, title, authors, year, quote, page, section, anchor: `page=${page}`, check, text_sha256: '0'.repeat(64),
})

const quoteLadder = 'With the second epoch of infrared photometry the crowding term falls below 0.02 mag, and the local value is 73.2 ± 0.9 km/s/Mpc.'
const quoteTip = 'Our tip-of-the-red-giant-branch distances alone give 69.8 ± 1.6 km/s/Mpc, about two standard deviations below the Cepheid value in the same hosts.'
const quoteEarly = 'Assuming flat ΛCDM, the acoustic scale fixes H0 to 67.4 ± 0.5 km/s/Mpc with no freedom left in the late universe.'

const passagesOutput = [
  'Library: 42 papers, 3128 passages.',
  '# aa11bb22 · A second look at crowded Cepheids in the infrared · Okafor et al. 2024',
  '[aa11bb22-14] p. 7 · match 100% · 4. Results > 4.2. The local value',
  `3| ${quoteLadder}`,
  '# cc33dd44 · Red giants as a check of the ladder · Lindqvist & Moreau 2025',
  '[cc33dd44-9] p. 5 · match 84% · 3. The tip',
  `1| ${quoteTip}`,
  '2| The scatter is dominated by the adopted zero point.',
].join('\n')

export const hubble = record('s-hubble', new Date(Date.now() - 3_600_000).toISOString(), [
  started('Is the Hubble tension still there after JWST?'),
  thinks('The user wants the present state. I should look at what the library holds on Cepheids, TRGB and JAGB with JWST, then at ADS for anything newer.\n\nThe comparison only makes sense on the same hosts, so I want the numbers with their samples.', { after: 2 }),
  { type: 'todos', todos: [
    { id: '1', content: 'Read what the library holds on JWST distance ladders', status: 'completed', blockedBy: [] },
    { id: '2', content: 'Search ADS for newer results', status: 'completed', blockedBy: [] },
    { id: '3', content: 'Compare the local and the early value', status: 'completed', blockedBy: ['1', '2'] },
  ] },
  used(8200, 310),
  calls('c1', 'rag_search', { query: 'Hubble constant JWST Cepheid TRGB', k: 8 }),
  calls('c2', 'search_papers', { query: 'JWST Hubble constant distance ladder', year_from: 2023 }, { after: 0.1 }),
  gives('c1', 'rag_search', passagesOutput, { query: 'Hubble constant', passages: [{ paper_id: 'aa11bb22' }, { paper_id: 'cc33dd44' }] }, { duration_ms: 214 }),
  { type: 'tool_progress', id: 'c2', progress: 'arXiv answered, ADS is asked', fraction: 0.5 },
  gives('c2', 'search_papers', '3 papers', {
    query: 'JWST Hubble constant', queries: { ads: 'abs:(JWST "Hubble constant") year:2023-', arxiv: 'all:JWST AND all:"Hubble constant"' }, total: { ads: 112, arxiv: 64 },
    papers: [
      work('aa11bb22', 'A second look at crowded Cepheids in the infrared', ['Okafor, N.', 'Brandt, L.', 'Silva, M.'], 2024, 'Astrophys. Demo J.', { citation_count: 141 }),
      work('', 'Carbon stars in the J region: twelve hosts and a zero point', ['Haugen, P.', 'Ito, S.', 'Vance, R.'], 2025, '', { arxiv_id: '2501.01234', citation_count: 18 }),
      work('', 'H<sub>0</sub> from time delays: what the lens models assume', ['Castellan, A.', 'Wu, J.'], 2025, 'Demo Cosmol. Lett.', { doi: '10.9999/demo.7', citation_count: 4 }),
    ], errors: [],
  }, { duration_ms: 2310 }),
  calls('c3', 'download_paper', { paper_id: '10.9999/demo.7' }, { step: 2 }),
  gives('c3', 'download_paper', 'The publisher’s page turned the request away (403).\nTry again later, or add the PDF by hand.', {}, { is_error: true, error_kind: 'upstream', duration_ms: 8120, step: 2, after: 8 }),
  { type: 'subagent_started', name: 'early-universe', task: 'Find the newest value of H0 from the acoustic scale and what it assumes' },
  calls('d1', 'rag_search', { query: 'H0 acoustic scale flat LCDM' }, { agent: 'early-universe' }),
  gives('d1', 'rag_search', `# ee55ff66 · The sound horizon, again · Petrov & Adeyemi 2023\n[ee55ff66-3] p. 2 · match 100% · 1. Introduction\n1| ${quoteEarly}`, { passages: [{ paper_id: 'ee55ff66' }] }, { agent: 'early-universe', duration_ms: 180 }),
  { type: 'subagent_finished', name: 'early-universe', status: 'completed', steps: 2, tool_calls: 1, summary: 'H0 = 67.4 ± 0.5 km/s/Mpc, assuming flat ΛCDM [ee55ff66-3:1].', after: 6 },
  { type: 'compaction', kind: 'micro', tokens_before: 61200, tokens_after: 42800, outcome: 'masked', step: 3 },
  used(42800, 520, { step: 3 }),
  says('Most distance ladders', { step: 3 }),
  {
    type: 'answer', step: 3, answered: true, dropped_quotes: 1, degraded: [],
    text: [
      'Yes, though it is narrower than the headlines suggest. The Cepheid ladder with JWST gives $H_0 = 73.2 \\pm 0.9$ km/s/Mpc once crowding is measured rather than modelled [1], while the tip of the red giant branch in the same hosts lies lower, at $69.8 \\pm 1.6$ [2]. Against the early value of $67.4 \\pm 0.5$ [3] that leaves',
      '\\[ \\Delta H_0 = 5.8 \\pm 1.0\\ \\mathrm{km\\,s^{-1}\\,Mpc^{-1}} \\]',
      'for Cepheids and much less for the giants.',
      '| Method | $H_0$ (km/s/Mpc) | Hosts | Source |\n|:--|--:|--:|:--|\n| Cepheids, JWST | 73.2 ± 0.9 | 19 | [1] |\n| TRGB, JWST | 69.8 ± 1.6 | 11 | [2] |\n| Acoustic scale | 67.4 ± 0.5 | – | [3] |',
      'The two local rulers disagree at about two standard deviations, so part of the tension may sit in their zero points [2]. A common zero point would bring both to about 71 km/s/Mpc.',
      '**No source in your library for:** lensing time delays. One paper could not be downloaded.',
    ].join('\n\n'),
    citations: [
      cite('1', 'aa11bb22', 'A second look at crowded Cepheids in the infrared', ['Okafor, N.', 'Brandt, L.', 'Silva, M.'], 2024, quoteLadder, 7, '4. Results > 4.2. The local value'),
      cite('2', 'cc33dd44', 'Red giants as a check of the ladder', ['Lindqvist, T.', 'Moreau, C.'], 2025, quoteTip, 5, '3. The tip', 'folded'),
      cite('3', 'ee55ff66', 'The sound horizon, again', ['Petrov, D.', 'Adeyemi, F.'], 2023, quoteEarly, 2, '1. Introduction', 'ocr'),
    ],
    unsupported: [{ sentence: 'A common zero point would bring both to about 71 km/s/Mpc.', reason: 'no citation' }],
    searched: { papers_in_library: 42, papers: ['aa11bb22', 'cc33dd44', 'ee55ff66'], passages: 9, pages: { aa11bb22: [7, 8], cc33dd44: [5], ee55ff66: [2] }, unreadable: [], near_misses: [], queries: ['Hubble constant JWST Cepheid TRGB', 'H0 acoustic scale'] },
    after: 9,
  },
  ends(),
])

export const waiting = record('s-waits', new Date(Date.now() - 90_000).toISOString(), [
  started('Plot the light curve in data/wasp39.csv and tell me the transit depth'),
  thinks('I need to look at the file, fix the column name, then run a short script.'),
  calls('c1', 'query_target', { name: 'WASP-39 b' }),
  gives('c1', 'query_target', 'WASP-39b', {
    asked: 'WASP-39 b', name: 'WASP-39b', kind: 'object', ra_deg: 217.32673, dec_deg: -3.44449, frame: 'ICRS', epoch: 'J2000', error_arcsec: 0.02,
    object_type: 'Pl', type_text: 'Extra-solar planet', resolver: 'SIMBAD', aliases: ['Malmok', 'TIC 181949561b', 'Gaia DR3 3643098875168270592b'],
    pm: { ra_mas_yr: -18.95, dec_mas_yr: 1.2 }, parallax_mas: 4.65, velocity_km_s: -58.4, redshift: null, magnitudes: { V: 12.1 },
    measured: { parallax_mas: { value: 4.6538, unit: 'mas', error: 0.0142, bibcode: '2020yCat.1350....0G' }, velocity_km_s: { value: -58.44, unit: 'km/s', error: 0.08, bibcode: '2018A&A...616A...1G' }, mag_V: { value: 12.095, unit: 'mag', error: null, bibcode: '' } },
    spectral_type: 'G8', references: 402, cached_at: null, notes: [],
  }),
  calls('c2', 'file_edit', { path: 'scripts/fold.py', old_string: 'time = table["time"]\nflux = table["flux"]\nperiod = 4.05', new_string: 'time = table["bjd"]\nflux = table["flux"] / median(table["flux"])\nperiod = 4.0552941', replace_all: false }),
  gives('c2', 'file_edit', 'Edited scripts/fold.py', { path: 'scripts/fold.py' }, { duration_ms: 12 }),
  calls('c3', 'run_bash', { command: 'head -3 data/wasp39.csv' }),
  gives('c3', 'run_bash', 'bjd,flux,flux_err\n2459770.8312,1.00021,0.00031\n2459770.8319,0.99987,0.00031', { exit_code: 0, sandboxed: true }, { duration_ms: 41 }),
  used(12_400, 380),
  calls('c4', 'run_bash', { command: 'python scripts/fold.py data/wasp39.csv --out plots/wasp39.png && rm -f plots/*.tmp', description: 'Fold and plot', timeout_s: 120 }, { step: 2 }),
  { type: 'permission_request', id: 'p-1', tool_call_id: 'c4', tool: 'run_bash', arguments: { command: 'python scripts/fold.py data/wasp39.csv --out plots/wasp39.png && rm -f plots/*.tmp', description: 'Fold and plot', timeout_s: 120 }, args_sha256: 'ab12', reason: 'The command writes files and removes some.', rule: 'run_bash(python scripts/fold.py *)', step: 2 },
])

/** Two thousand calls: what a long night of work looks like. */
export const long = record('s-long', new Date(Date.now() - 7_200_000).toISOString(), [
  started('Check every note of the library against its paper'),
  ...Array.from({ length: 2000 }, (_, at) => [
    calls(`l${at}`, 'get_paper_content', { paper_id: 'aa11bb22', section: `section ${at}` }, { after: 0.5 }),
    gives(`l${at}`, 'get_paper_content', 'Nothing new.', { paper_id: 'aa11bb22' }, { after: 0.5 }),
  ]).flat(),
])

export const asking = record('s-asks', new Date(Date.now() - 86_400_000).toISOString(), [
  started('How old are the Hyades?'),
  calls('c1', 'rag_search', { query: 'age of the Hyades' }),
  gives('c1', 'rag_search', 'No passage holds any of these terms.', { passages: [] }),
  { type: 'question', id: 'q-1', question: 'Two ages are in use, from isochrones and from lithium. Which one do you need?', options: ['Isochrones', 'The lithium depletion boundary', 'Both, with the difference explained'], expires_at: new Date(Date.now() + 260_000).toISOString() },
  { type: 'attempt_reset', reason: 'the stream was cut after 12 s' },
  { type: 'notice', level: 'warning', text: 'The model server answered slowly; the fallback model took over.' },
])
