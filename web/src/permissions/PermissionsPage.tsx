/** What waits for a decision, and the rules that make decisions needless. */
import { Trash2 } from 'lucide-react'
import { type SyntheticEvent, useState } from 'react'
import { api } from '../api/client'
import type { Pending, Rule, RuleDecision } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { href } from '../app/route'
import { PermissionCard } from '../research/PermissionCard'
import { QuestionCard } from '../research/QuestionCard'
import { IconButton, Trouble } from '../ui/parts'
import { day } from '../ui/format'
import { useWords } from '../words'
import '../research/cards/cards.css'

export function PermissionsPage() {
  const t = useWords()
  const rules = useLoaded<{ rules: Rule[] }>('/permissions')
  const pending = useLoaded<{ pending: Pending[] }>('/pending', 3000)
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const act = (work: Promise<unknown>) => {
    setTrouble(null)
    work.then(rules.reload, (error: unknown) => setTrouble(asApiError(error)))
  }
  return (
    <div className="page">
      <div className="inner">
        <h1>{t('nav.permissions')}</h1>
        {pending.data?.pending.length ? (
          <section className="waiting-list">
            <h2>{t('permissions.waiting')}</h2>
            {pending.data.pending.map((one) => (
              <div key={one.id}>
                <a className="tiny" href={href('research', one.session_id)}>
                  {t('permissions.inSession')}
                </a>
                <Card one={one} />
              </div>
            ))}
          </section>
        ) : null}
        <p className="muted">{t('permissions.teaches')}</p>
        {rules.error ? <Trouble error={rules.error} onRetry={rules.reload} /> : null}
        {trouble ? <Trouble error={trouble} /> : null}
        <NewRule onAdd={(pattern, decision) => act(api.put('/permissions', { pattern, decision }))} />
        <div className="scroll-x" tabIndex={0} role="region" aria-label={t('permissions.rule')}>
          <table className="plain">
            <thead>
              <tr>
                <th>{t('permissions.rule')}</th>
                <th>{t('permissions.decision')}</th>
                <th>{t('permissions.scope')}</th>
                <th>{t('permissions.since')}</th>
                <th>
                  <span className="hidden-text">{t('permissions.revoke')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rules.data?.rules.map((rule) => (
                <tr key={rule.id}>
                  <td className="mono">{rule.pattern}</td>
                  <td className={tones[rule.decision]}>{t(`decision.${rule.decision}`)}</td>
                  <td>{rule.session_id ? t('permissions.oneSession') : t('permissions.everywhere')}</td>
                  <td className="tiny muted">
                    {day(rule.created_at)} · {rule.source}
                  </td>
                  <td>
                    <IconButton
                      icon={Trash2}
                      label={`${t('permissions.revoke')}: ${rule.pattern}`}
                      onClick={() => act(api.delete(`/permissions/${rule.id}`))}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {rules.data && !rules.data.rules.length ? <p className="muted">{t('permissions.none')}</p> : null}
      </div>
    </div>
  )
}

const tones: Record<RuleDecision, string> = { allow: 'good', deny: 'bad', ask: 'caution' }

function Card({ one }: { one: Pending }) {
  if (one.kind === 'question') return <QuestionCard asked={{ id: one.id, question: one.question, options: one.options, expiresAt: one.expires_at }} />
  const { id, tool, reason, rule, agent } = one
  return <PermissionCard request={{ id, tool, reason, rule, agent, arguments: one.arguments, argsSha256: one.args_sha256 }} />
}

function NewRule({ onAdd }: { onAdd: (pattern: string, decision: RuleDecision) => void }) {
  const t = useWords()
  const [pattern, setPattern] = useState('')
  const [decision, setDecision] = useState<RuleDecision>('allow')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (!pattern.trim()) return
    onAdd(pattern.trim(), decision)
    setPattern('')
  }
  return (
    <form className="row wrap" onSubmit={submit}>
      <input
        className="field mono spread"
        value={pattern}
        placeholder="run_bash(git log *)"
        aria-label={t('permissions.rule')}
        onChange={(event) => setPattern(event.target.value)}
      />
      <select className="field" value={decision} aria-label={t('permissions.decision')} onChange={(event) => setDecision(event.target.value as RuleDecision)}>
        {(['allow', 'ask', 'deny'] as const).map((one) => (
          <option key={one} value={one}>
            {t(`decision.${one}`)}
          </option>
        ))}
      </select>
      <button className="button primary">{t('permissions.add')}</button>
    </form>
  )
}
