/** What the HTTP API answers beside events: the shapes of the contract and of the routes' own pages. */
import type { Citation } from './events'

export type PermissionMode = 'ask' | 'auto' | 'plan' | 'deny'
export const permissionModes: readonly PermissionMode[] = ['ask', 'auto', 'plan', 'deny']

export interface Usage {
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  reasoning_tokens: number
  cost_usd: number | null
}

export interface Session {
  id: string
  title: string
  created_at: string
  status: string
  mode: PermissionMode
  model: string
  enable_thinking: boolean
  summary: string
  usage: Usage
}

export interface PaperFile {
  path: string
  kind: string
  size_bytes: number
  present: boolean
}

export type PaperState = 'known' | 'downloaded' | 'parsed' | 'indexed' | 'failed'
export const paperStates: readonly PaperState[] = ['indexed', 'parsed', 'downloaded', 'known', 'failed']

export interface Paper {
  paper_id: string
  title: string
  authors: string[]
  year: number | null
  bibcode: string | null
  arxiv_id: string | null
  doi: string | null
  abstract: string
  cite_key: string
  state: PaperState
  files: PaperFile[]
  pages: number | null
  language: string
  label: string
  confidential: boolean
  added_at: string
  /** As people say it: `ApJ`, `arXiv` of a preprint; empty where nobody told. */
  journal: string
  tags: string[]
  /** How many notes stand on it. */
  notes: number
}

/** A paper alone also tells what read its text, and what is missing from it; `good`: nothing. */
export interface PaperDetail extends Paper {
  engine: string
  verdict: string
}

export interface PaperContent {
  paper_id: string
  content: string
  engine: string
  verdict: string
  sections: { path: string; title: string; page: number | null }[]
}

export interface Note {
  id: number
  paper_id: string
  quote: string
  note: string
  page: number | null
  color: string
  created_at: string
  agent: string
}

/** An entry of a paper's list of references, read from its words alone. */
export interface Reference {
  number: number
  label: string
  first_author: string
  year: string
  text: string
  page: number | null
  doi: string | null
  arxiv_id: string | null
  bibcode: string | null
  /** The bibcode is made of journal, volume and page. */
  made: boolean
  /** The library's paper that it is. */
  paper_id: string | null
}

/** One work of a search, whether the library holds it or not. */
export interface FoundPaper {
  paper_id: string
  state: string
  title: string
  authors: string[]
  author_count: number | null
  year: number | null
  journal: string
  bibcode: string
  arxiv_id: string
  doi: string
  abstract: string
  citation_count: number | null
  refereed: boolean | null
  status: string
}

export interface SearchAnswer {
  query: string
  queries: Record<string, string>
  total: Record<string, number | null>
  papers: FoundPaper[]
  errors: { source: string; message: string; hint: string }[]
}

export interface Measured {
  value: number
  unit: string
  error: number | null
  bibcode: string
}

export interface Target {
  asked: string
  name: string
  kind: string
  ra_deg: number | null
  dec_deg: number | null
  frame: string | null
  epoch: string | null
  error_arcsec: number | null
  object_type: string
  type_text: string
  resolver: string
  aliases: string[]
  pm: { ra_mas_yr: number | null; dec_mas_yr: number | null } | null
  parallax_mas: number | null
  velocity_km_s: number | null
  redshift: number | null
  magnitudes: Record<string, number>
  measured: Record<string, Measured>
  spectral_type: string
  references: number | null
  cached_at: string | null
  notes: string[]
}

/** An object around a position; ICRS, epoch J2000.0. */
export interface FieldObject {
  name: string
  catalogue: string
  ra_deg: number
  dec_deg: number
  object_type: string
  type_text: string
  is_star: boolean
  magnitude: number | null
  band: string
  pm_ra_mas_yr: number | null
  pm_dec_mas_yr: number | null
  /** Whole axes of its ellipse, and the position angle of the major one. */
  major_arcmin: number | null
  minor_arcmin: number | null
  angle_deg: number | null
}

export interface SkyField {
  frame: string
  epoch: string
  /** Those that answered; `epoch` is of their own positions, in Julian years. */
  catalogues: { name: string; epoch: number; truncated: boolean }[]
  objects: FieldObject[]
  errors: { source: string; message: string; hint: string }[]
}

export interface Failure {
  what: string
  error_kind: string
  reason: string
  hint: string
}

/** Running and finished work of the library: an `add`, a download, an upload. */
export interface Task {
  id: string
  kind: string
  what: string
  state: 'waiting' | 'running' | 'done' | 'failed'
  progress: string
  fraction: number | null
  created_at: string
  finished_at: string
  papers: Paper[]
  failures: Failure[]
}

/** A question or a permission request, as `GET /pending` lists it. */
export interface Pending {
  id: string
  session_id: string
  agent: string
  kind: 'question' | 'permission'
  created_at: string
  tool: string
  arguments: Record<string, unknown>
  args_sha256: string
  reason: string
  rule: string
  question: string
  options: string[]
  expires_at: string
}

export type RuleDecision = 'allow' | 'deny' | 'ask'

export interface Rule {
  id: number
  pattern: string
  decision: RuleDecision
  session_id: string
  source: string
  created_at: string
}

export interface AuditRow {
  id: number
  session_id: string
  seq: number
  turn_id: string
  agent: string
  time: string
  type: string
  tool: string
  tool_call_id: string
  outcome: string
  event_sha256: string
  chain_sha256: string
}

/** Whether the log's chain holds; `wrong` names each place where it does not. */
export interface ChainState {
  sound: boolean
  wrong: string[]
}

export interface ToolFigures {
  name: string
  runs: number
  errors: number
  open: number
  total_ms: number
  median_ms: number
  p95_ms: number
  longest_ms: number
}

/** What one session, or all, used; `turns` counts by how they ended, `errors` by kind, days are UTC. */
export interface Metrics {
  session_id: string
  turns: Record<string, number>
  model_calls: number
  usage: Usage
  tools: ToolFigures[]
  errors: Record<string, number>
  days: { day: string; model_calls: number; usage: Usage }[]
}

export interface ToolDefinition {
  name: string
  description: string
}

export interface Finding {
  name: string
  state: 'ok' | 'note' | 'failed'
  text: string
  mend: string
}

export interface Health {
  status: string
  version: string
}

export interface ServerSettings {
  model: string
  models: string[]
  mode: PermissionMode
  enable_thinking: boolean
  context_tokens: number | null
}

export type { Citation }
