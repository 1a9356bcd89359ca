// A small server for looking at the page without a home: the routes of the API over recorded events, real
// SSE, the built front end with a strict policy. Run `npm run build && npm run mock`.
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { facet, library, list, auditRows, findings, metrics, rules, tasks } from './home.mjs'
import { answerFor } from './live.mjs'
import { asking, hubble, long, waiting } from './recordings.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const dist = join(here, '..', '..', 'src', 'nuncius', 'web')
const port = Number(process.env.PORT ?? 8766)

const usage = { input_tokens: 51000, output_tokens: 830, cached_tokens: 30600, reasoning_tokens: 400, cost_usd: 0.06 }
const session = (id, title, ago, status, more = {}) => ({
  id, title, created_at: new Date(Date.now() - ago * 1000).toISOString(), status, mode: 'ask', model: 'demo-large', enable_thinking: true, summary: '', usage, ...more,
})
const sessions = [
  session('s-waits', 'WASP-39b light curve', 90, 'running'),
  session('s-hubble', 'Is the Hubble tension still there after JWST?', 3600, 'completed'),
  session('s-asks', 'How old are the Hyades?', 86_400, 'running'),
  session('s-long', 'Two thousand notes', 7200, 'running'),
  session('s-empty', 'Reionisation by faint galaxies', 90_000, 'idle'),
]
const logs = new Map([['s-hubble', hubble], ['s-waits', waiting], ['s-asks', asking], ['s-long', long], ['s-empty', []]])
const listeners = new Map()
const notes = [{ id: 1, paper_id: library.papers[0].paper_id, quote: '', note: 'Compare with the tip distances.', page: 2, color: 'yellow', created_at: '', agent: 'main' }]
notes[0].quote = library.firstQuote

function emit(id, draft) {
  const log = logs.get(id)
  const event = { v: 1, seq: log.length + 1, session_id: id, turn_id: 't1', step: 1, agent: 'main', time: new Date().toISOString(), ...draft }
  log.push(event)
  for (const response of listeners.get(id) ?? []) response.write(frame(event))
}

const frame = (event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`

function stream(id, after, response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  for (const event of logs.get(id) ?? []) if (event.seq > after) response.write(frame(event))
  const all = listeners.get(id) ?? new Set()
  listeners.set(id, all.add(response))
  const beat = setInterval(() => response.write(': beat\n\n'), 15_000)
  response.on('close', () => {
    clearInterval(beat)
    all.delete(response)
  })
}

async function turn(id, message) {
  const turnId = `t${Date.now()}`
  for (const [wait, draft] of answerFor(message)) {
    await new Promise((resolve) => setTimeout(resolve, wait))
    emit(id, { turn_id: turnId, ...draft })
  }
}

const pendingOf = (id) => (logs.get(id) ?? []).filter((event) => event.type === 'permission_request' || event.type === 'question')
  .filter((event) => !logs.get(id).some((other) => other.id === event.id && other.type.endsWith('_resolved')))

function pending() {
  return [...logs.keys()].flatMap(pendingOf).map((event) => ({
    id: event.id, session_id: event.session_id, turn_id: event.turn_id, agent: event.agent, kind: event.type === 'question' ? 'question' : 'permission', state: 'open',
    created_at: event.time, tool_call_id: event.tool_call_id ?? '', tool: event.tool ?? '', arguments: event.arguments ?? {}, args_sha256: event.args_sha256 ?? '',
    reason: event.reason ?? '', rule: event.rule ?? '', scope: '', question: event.question ?? '', options: event.options ?? [], expires_at: event.expires_at ?? '', answer: '',
  }))
}

const routes = [
  ['GET', /^\/health$/, () => ({ status: 'ok', version: '0.1.0' })],
  ['GET', /^\/settings$/, () => ({ model: 'demo-large', models: ['demo-large', 'demo-small'], mode: 'ask', enable_thinking: true, context_tokens: 128_000 })],
  ['GET', /^\/doctor$/, () => ({ findings })],
  ['GET', /^\/sessions$/, (_, query) => ({ sessions: sessions.filter((one) => one.title.toLowerCase().includes((query.get('q') ?? '').toLowerCase())), next_cursor: null })],
  ['POST', /^\/sessions$/, () => {
    const one = session(`s-${Date.now()}`, 'New session', 0, 'idle')
    sessions.unshift(one)
    logs.set(one.id, [])
    return one
  }],
  ['GET', /^\/sessions\/([^/]+)$/, ([id]) => sessions.find((one) => one.id === id)],
  ['PATCH', /^\/sessions\/([^/]+)$/, ([id], _, body) => Object.assign(sessions.find((one) => one.id === id), body)],
  ['POST', /^\/sessions\/([^/]+)\/turns$/, ([id], _, body) => {
    void turn(id, body.message)
    return { turn_id: 't' }
  }],
  ['POST', /^\/sessions\/([^/]+)\/cancel$/, ([id]) => {
    emit(id, { turn_id: logs.get(id).at(-1).turn_id, type: 'turn_finished', status: 'cancelled', error: '' })
    return { cancelled: ['t1'] }
  }],
  ['GET', /^\/sessions\/([^/]+)\/messages$/, () => ({ messages: [] })],
  ['GET', /^\/pending$/, () => ({ pending: pending() })],
  ['POST', /^\/permissions\/requests\/(.+)$/, ([id], _, body) => {
    const event = [...logs.values()].flat().find((one) => one.id === id)
    emit(event.session_id, { turn_id: event.turn_id, type: 'permission_resolved', id, tool_call_id: event.tool_call_id, decision: body.decision, scope: body.scope, by: 'user' })
    return { id }
  }],
  ['POST', /^\/questions\/(.+)$/, ([id], _, body) => {
    const event = [...logs.values()].flat().find((one) => one.id === id)
    emit(event.session_id, { turn_id: event.turn_id, type: 'question_resolved', id, outcome: body.declined ? 'declined' : 'answered', answer: body.answer ?? '' })
    return { id }
  }],
  ['GET', /^\/permissions$/, () => ({ rules })],
  ['PUT', /^\/permissions$/, (_, __, body) => {
    rules.push({ id: rules.length + 1, session_id: '', source: 'user', created_at: new Date().toISOString(), ...body })
    return rules.at(-1)
  }],
  ['DELETE', /^\/permissions\/(\d+)$/, ([id]) => void rules.splice(rules.findIndex((rule) => rule.id === Number(id)), 1)],
  ['GET', /^\/audit$/, (_, query) => ({ rows: auditRows.filter((row) => !query.get('tool') || row.tool === query.get('tool')) })],
  ['GET', /^\/audit\/verify$/, () => ({ sound: true, wrong: [] })],
  ['GET', /^\/metrics$/, () => metrics],
  ['GET', /^\/tasks$/, () => ({ tasks })],
  ['GET', /^\/papers$/, (_, query) => ({ papers: list(query), total: list(query).length, next_cursor: null })],
  ['GET', /^\/papers\/facets$/, (_, query) => ({ values: facet(query) })],
  ['PATCH', /^\/papers\/([^/]+)$/, ([id], _, body) => Object.assign(library.papers.find((paper) => paper.paper_id === id), body)],
  ['POST', /^\/papers$/, (_, __, body) => ({ ...tasks[0], what: body.id })],
  ['GET', /^\/papers\/([^/]+)$/, ([id]) => library.papers.find((paper) => paper.paper_id === id)],
  ['GET', /^\/papers\/([^/]+)\/content$/, ([id]) => library.content(id)],
  ['GET', /^\/papers\/([^/]+)\/notes$/, ([id]) => ({ notes: notes.filter((note) => note.paper_id === id) })],
  ['POST', /^\/papers\/([^/]+)\/notes$/, ([id], _, body) => {
    notes.push({ id: notes.length + 1, paper_id: id, page: null, color: 'yellow', created_at: '', agent: 'user', ...body })
    return notes.at(-1)
  }],
  ['POST', /^\/search$/, () => hubble.find((event) => event.name === 'search_papers' && event.type === 'tool_result').metadata],
  ['POST', /^\/rag$/, () => ({ query: '', degraded: [], passages: library.papers.slice(0, 3).map((paper, at) => ({ paper_id: paper.paper_id, title: paper.title, page: at + 2, text: library.firstQuote })) })],
  ['GET', /^\/targets$/, (_, query) => ({ ...waiting.find((event) => event.type === 'tool_result').metadata, asked: query.get('name') })],
]

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' }

function file(path, response) {
  const found = join(dist, normalize(path === '/' ? '/index.html' : path))
  if (!found.startsWith(dist) || !existsSync(found) || !statSync(found).isFile()) return void response.writeHead(404).end()
  response.writeHead(200, { 'Content-Type': kinds[extname(found)] ?? 'application/octet-stream', 'Content-Security-Policy': policy })
  createReadStream(found).pipe(response)
}

async function bodyOf(request) {
  let text = ''
  for await (const part of request) text += part
  return text && request.headers['content-type'] === 'application/json' ? JSON.parse(text) : {}
}

createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost')
  if (!url.pathname.startsWith('/api')) return file(url.pathname, response)
  const path = url.pathname.slice(4)
  const events = /^\/sessions\/([^/]+)\/events$/.exec(path)
  if (events) return stream(events[1], Number(request.headers['last-event-id'] ?? url.searchParams.get('after') ?? 0), response)
  const paperFile = /^\/papers\/([^/]+)\/file$/.exec(path)
  if (paperFile) {
    response.writeHead(200, { 'Content-Type': 'application/pdf' })
    return void response.end(readFileSync(library.pdf))
  }
  const body = await bodyOf(request)
  for (const [method, pattern, answer] of routes) {
    const match = method === request.method && pattern.exec(path)
    if (!match) continue
    const value = answer(match.slice(1).map(decodeURIComponent), url.searchParams, body)
    if (value === undefined && method !== 'DELETE') break
    response.writeHead(value === undefined ? 204 : 200, { 'Content-Type': 'application/json' })
    return void response.end(value === undefined ? '' : JSON.stringify(value))
  }
  response.writeHead(404, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ error: { code: 'not_found', message: `There is nothing at ${path}.`, hint: 'This is the server for looking at the page.' } }))
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`))
