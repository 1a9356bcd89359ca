/** What the work cost: four numbers, then small plots over time, then the tools. */
import type { Metrics, Session, Usage } from '../api/shapes'
import { useLoaded } from '../api/useLoaded'
import { withQuery } from '../api/client'
import { go, href, type Route } from '../app/route'
import { ExportButtons } from '../ui/ExportButtons'
import { Empty, Trouble } from '../ui/parts'
import { cost, duration, tokens, whole } from '../ui/format'
import { useWords } from '../words'
import { type Series, TimePlot } from './TimePlot'
import './metrics.css'

export function MetricsPage({ route }: { route: Route }) {
  const t = useWords()
  const session = route.query.get('session') ?? ''
  const { data, error, reload } = useLoaded<Metrics>(withQuery('/metrics', { session }), 15_000)
  const sessions = useLoaded<{ sessions: Session[] }>('/sessions?limit=200')
  return (
    <div className="page">
      <div className="inner">
        <div className="row wrap">
          <h1 className="spread">{t('nav.metrics')}</h1>
          <select
            className="field session-choice"
            aria-label={t('audit.session')}
            value={session}
            onChange={(event) => go(href('metrics', '', { session: event.target.value }))}
          >
            <option value="">{t('metrics.all')}</option>
            {sessions.data?.sessions.map((one) => (
              <option key={one.id} value={one.id}>
                {one.title || t('sessions.untitled')}
              </option>
            ))}
          </select>
          {data ? <ExportButtons name="metrics" rows={data.tools} whole={data} /> : null}
        </div>
        {error ? <Trouble error={error} onRetry={reload} /> : null}
        {data && !data.model_calls && !data.tools.length ? (
          <Empty title={t('metrics.empty')}>
            <p>{t('metrics.teaches')}</p>
          </Empty>
        ) : data ? (
          <Shown metrics={data} />
        ) : null}
      </div>
    </div>
  )
}

function Shown({ metrics }: { metrics: Metrics }) {
  const t = useWords()
  const { usage, days, tools } = metrics
  const plot = (of: (used: Usage) => number) => days.map((one) => ({ time: Date.parse(one.day), value: of(one.usage) }))
  const count = (numbers: Iterable<number>) => [...numbers].reduce((sum, one) => sum + one, 0)
  const turns = count(Object.values(metrics.turns))
  const runs = count(tools.map((tool) => tool.runs))
  const errors = count(tools.map((tool) => tool.errors))
  const kinds: Series[] = [
    { name: t('metrics.input'), points: plot((point) => point.input_tokens - point.cached_tokens), color: 'var(--accent)', dash: '' },
    { name: t('metrics.cached'), points: plot((point) => point.cached_tokens), color: 'var(--muted)', dash: '4 3' },
    { name: t('metrics.output'), points: plot((point) => point.output_tokens), color: 'var(--gold)', dash: '' },
  ]
  const slowest = Math.max(1, ...tools.map((tool) => tool.p95_ms))
  return (
    <>
      <dl className="totals">
        <Total name={t('metrics.tokens')} value={tokens(usage.input_tokens + usage.output_tokens)} note={t('metrics.cachedShare', { share: share(usage.cached_tokens, usage.input_tokens) })} />
        <Total name={t('metrics.cost')} value={cost(usage.cost_usd)} note={usage.cost_usd === null ? t('metrics.noPrice') : t('metrics.perTurn', { cost: cost(usage.cost_usd / Math.max(1, turns)) })} />
        <Total name={t('metrics.calls')} value={whole(runs)} note={t('metrics.turns', { n: turns })} />
        <Total name={t('metrics.errors')} value={whole(errors)} note={share(errors, runs)} />
      </dl>
      {days.length > 1 ? (
        <div className="plots">
          {kinds.map((one) => (
            <TimePlot key={one.name} title={one.name} series={[one]} format={tokens} />
          ))}
          {usage.cost_usd === null ? null : (
            <TimePlot title={t('metrics.cost')} series={[{ name: t('metrics.cost'), points: plot((point) => point.cost_usd ?? 0), color: 'var(--good)', dash: '' }]} format={cost} />
          )}
        </div>
      ) : null}
      <section className="scroll-x" tabIndex={0} aria-label={t('metrics.tools')}>
        <h2>{t('metrics.tools')}</h2>
        <table className="plain">
          <thead>
            <tr>
              <th>{t('audit.tool')}</th>
              <th className="number">{t('metrics.calls')}</th>
              <th className="number">{t('metrics.errors')}</th>
              <th className="number">{t('metrics.median')}</th>
              <th className="number">{t('metrics.p95')}</th>
              <th className="latency-head">{t('metrics.latency')}</th>
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <tr key={tool.name}>
                <td className="mono">{tool.name}</td>
                <td className="number">{whole(tool.runs)}</td>
                <td className={`number ${tool.errors ? 'bad' : ''}`}>{tool.errors}</td>
                <td className="number">{duration(tool.median_ms)}</td>
                <td className="number">{duration(tool.p95_ms)}</td>
                <td>
                  <Latency median={tool.median_ms / slowest} high={tool.p95_ms / slowest} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

function share(part: number, all: number): string {
  return all ? `${Math.round((part / all) * 100)} %` : '0 %'
}

function Total({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div>
      <dt className="muted tiny">{name}</dt>
      <dd>
        <span className="big">{value}</span>
        <span className="muted tiny">{note}</span>
      </dd>
    </div>
  )
}

/** A line to the 95th percentile with a dot at the median. */
function Latency({ median, high }: { median: number; high: number }) {
  return (
    <div className="latency" aria-hidden>
      <span className="latency-line" style={{ width: `${high * 100}%` }} />
      <span className="latency-dot" style={{ left: `${median * 100}%` }} />
    </div>
  )
}
