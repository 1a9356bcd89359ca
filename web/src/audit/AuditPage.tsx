/** The audit log: one line an act or decision, as it was written, with the state of its chain. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Link2, Link2Off } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { api, withQuery } from '../api/client'
import type { AuditRow, ChainState } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { go, href, type Route } from '../app/route'
import { ExportButtons } from '../ui/ExportButtons'
import { Empty, Trouble } from '../ui/parts'
import { useWords } from '../words'
import './audit.css'

const PAGE = 1000

interface Rows {
  rows: AuditRow[]
  error: ReturnType<typeof asApiError> | null
  /** Whether all rows are here. */
  whole: boolean
}

/** The rows of a session or of all, page after page. */
function useRows(session: string): Rows {
  const [state, setState] = useState<Rows & { session: string | null }>({ session: null, rows: [], error: null, whole: false })
  useEffect(() => {
    const left = new AbortController()
    const wanted = () => !left.signal.aborted
    const load = async () => {
      const rows: AuditRow[] = []
      for (let after = 0; wanted(); ) {
        const page = await api.get<{ rows: AuditRow[] }>(withQuery('/audit', { session, after, limit: PAGE }))
        rows.push(...page.rows)
        const last = page.rows.at(-1)
        const whole = page.rows.length < PAGE || !last
        if (wanted()) setState({ session, rows: [...rows].reverse(), error: null, whole })
        if (whole) return
        after = last.id
      }
    }
    load().catch((error: unknown) => {
      if (wanted()) setState({ session, rows: [], error: asApiError(error), whole: true })
    })
    return () => left.abort()
  }, [session])
  return state.session === session ? state : { rows: [], error: null, whole: false }
}

export function AuditPage({ route }: { route: Route }) {
  const t = useWords()
  const session = route.query.get('session') ?? ''
  const tool = route.query.get('tool') ?? ''
  const [decisions, setDecisions] = useState(false)
  const { rows, error, whole } = useRows(session)
  const chain = useLoaded<ChainState>('/audit/verify')
  const shown = rows.filter((row) => (!tool || row.tool === tool) && (!decisions || row.type.startsWith('permission')))
  const tools = [...new Set(rows.map((row) => row.tool).filter(Boolean))].sort()
  const filter = (change: Record<string, string>) => go(href('audit', '', { session, tool, ...change }), true)
  return (
    <div className="audit">
      <header className="library-head audit-head">
        <h1>{t('nav.audit')}</h1>
        {chain.data ? (
          <p className={`row ${chain.data.sound ? 'good' : 'bad'}`}>
            {chain.data.sound ? <Link2 aria-hidden /> : <Link2Off aria-hidden />}
            {chain.data.sound ? t('audit.chainGood') : t('audit.chainBroken', { places: chain.data.wrong.slice(0, 3).join('; ') })}
          </p>
        ) : chain.error ? (
          <p className="muted">{t('audit.chainUnknown')}</p>
        ) : null}
        <div className="row wrap">
          <select className="field" aria-label={t('audit.tool')} value={tool} onChange={(event) => filter({ tool: event.target.value })}>
            <option value="">{t('audit.allTools')}</option>
            {(tool && !tools.includes(tool) ? [tool, ...tools] : tools).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <button className="chip" aria-pressed={decisions} onClick={() => setDecisions(!decisions)}>
            {t('audit.decisions')}
          </button>
          <ExportButtons name="audit" rows={shown} />
          {session ? (
            <button className="chip" aria-pressed onClick={() => filter({ session: '' })}>
              {t('audit.session')}: <span className="mono tiny">{session}</span> ×
            </button>
          ) : null}
        </div>
      </header>
      {error ? <Trouble error={error} /> : null}
      {shown.length ? (
        <Lines rows={shown} onSession={(id) => filter({ session: id })} />
      ) : error ? null : !whole ? (
        <p className="audit-state muted" role="status">
          {t('audit.loading')}
        </p>
      ) : rows.length || session ? (
        <Empty title={t('audit.nothing')}>
          <p>
            <button
              className="button"
              onClick={() => {
                setDecisions(false)
                go(href('audit'), true)
              }}
            >
              {t('filter.clear')}
            </button>
          </p>
        </Empty>
      ) : (
        <Empty title={t('audit.empty')}>
          <p>{t('audit.teaches')}</p>
        </Empty>
      )}
    </div>
  )
}

function Lines({ rows, onSession }: { rows: readonly AuditRow[]; onSession: (id: string) => void }) {
  const t = useWords()
  const frame = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 24,
    overscan: 20,
    initialRect: { width: 900, height: 700 },
  })
  return (
    <div className="audit-lines mono" ref={frame} tabIndex={0} role="log" aria-label={t('nav.audit')} aria-live="off">
      <div className="audit-sheet" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((place) => {
          const row = rows[place.index]
          if (!row) return null
          return (
            <div key={row.id} className="audit-line" style={{ transform: `translateY(${place.start}px)` }}>
              <span className="audit-time muted">{row.time.slice(0, 19).replace('T', ' ')}</span>
              <button className="audit-session" onClick={() => onSession(row.session_id)} title={t('audit.only')}>
                {row.session_id.slice(-8)}
              </button>
              <span className="audit-agent muted clip">{row.agent}</span>
              <span className="audit-tool clip">{row.tool || '–'}</span>
              <a href={href('research', row.session_id, { call: row.tool_call_id })} className="audit-act clip">
                {row.type}
              </a>
              <span className={`audit-outcome clip ${tone(row)}`} title={row.outcome}>{row.outcome}</span>
              <span className="audit-chain muted" title={row.chain_sha256}>
                {row.chain_sha256.slice(0, 8)}
              </span>
            </div>
          )
        })}
      </div>
    </div>
  )
}

function tone(row: AuditRow): string {
  if (row.type === 'permission_resolved') return row.outcome.startsWith('deny') ? 'caution' : 'good'
  return row.type === 'tool_result' && row.outcome !== 'ok' ? 'bad' : ''
}
