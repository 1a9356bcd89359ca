/** What waits for a decision, and the rules that make decisions needless. */
import { Trash2 } from 'lucide-react'
import { type SyntheticEvent, useEffect, useState } from 'react'
import { api } from '../api/client'
import type { Pending, Rule, RuleDecision } from '../api/shapes'
import { asApiError, useLoaded } from '../api/useLoaded'
import { href } from '../app/route'
import { PermissionCard } from '../research/PermissionCard'
import { QuestionCard } from '../research/QuestionCard'
import { IconButton, Trouble } from '../ui/parts'
import { day } from '../ui/format'
import { isWord, useWords } from '../words'
import '../research/cards/cards.css'

export function PermissionsPage() {
  const t = useWords()
  const rules = useLoaded<{ rules: Rule[] }>('/permissions', 3000)
  const pending = useLoaded<{ pending: Pending[] }>('/pending', 3000)
  const [trouble, setTrouble] = useState<{ message: string; hint: string } | null>(null)
  const act = (work: Promise<unknown>) => {
    setTrouble(null)
    return work.then(
      () => {
        rules.reload()
        return true
      },
      (error: unknown) => {
        setTrouble(asApiError(error))
        return false
      },
    )
  }
  // A card that is gone was decided, and "always" has written a rule.
  const waiting = pending.data?.pending.map((one) => one.id).join(' ')
  const { reload } = rules
  useEffect(() => {
    if (waiting !== undefined) reload()
  }, [waiting, reload])
  const sourceInWords = (source: string) => {
    const word = `ruleSource.${source}`
    return isWord(word) ? t(word) : source
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
                  <td className={`whole ${tones[rule.decision]}`}>{t(`decision.${rule.decision}`)}</td>
                  <td className="whole">{rule.session_id ? t('permissions.oneSession') : t('permissions.everywhere')}</td>
                  <td className="tiny muted">
                    {day(rule.created_at)} · {sourceInWords(rule.source)}
                  </td>
                  <td>
                    <IconButton
                      icon={Trash2}
                      label={`${t('permissions.revoke')}: ${rule.pattern}`}
                      onClick={() => void act(api.delete(`/permissions/${rule.id}`))}
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

/** What was refused stays to be mended. */
function NewRule({ onAdd }: { onAdd: (pattern: string, decision: RuleDecision) => Promise<boolean> }) {
  const t = useWords()
  const tools = useLoaded<{ tools: { name: string }[] }>('/tools')
  const [pattern, setPattern] = useState('')
  const [decision, setDecision] = useState<RuleDecision>('allow')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (!pattern.trim()) return
    void onAdd(pattern.trim(), decision).then((added) => {
      if (added) setPattern((now) => (now === pattern ? '' : now))
    })
  }
  return (
    <form className="row wrap" onSubmit={submit}>
      <input
        className="field mono spread"
        value={pattern}
        placeholder="run_bash(git log *)"
        list="known-tools"
        aria-label={t('permissions.rule')}
        onChange={(event) => setPattern(event.target.value)}
      />
      <datalist id="known-tools">
        {tools.data?.tools.map(({ name }) => <option key={name} value={name} />)}
      </datalist>
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
