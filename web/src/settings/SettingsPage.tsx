/** How this page looks, what the server runs with, and what `doctor` found. */
import { CircleAlert, CircleCheck, Info } from 'lucide-react'
import type { Finding, Health, ServerSettings } from '../api/shapes'
import { useLoaded } from '../api/useLoaded'
import { Trouble } from '../ui/parts'
import { modifier, type Density, type Language, setPrefs, type Theme, usePrefs } from '../ui/prefs'
import { isWord, useWords } from '../words'
import './settings.css'

export function SettingsPage() {
  const t = useWords()
  const prefs = usePrefs()
  const health = useLoaded<Health>('/health')
  const settings = useLoaded<ServerSettings>('/settings')
  const doctor = useLoaded<{ findings: Finding[] }>('/doctor')
  return (
    <div className="page">
      <div className="inner">
        <h1>{t('nav.settings')}</h1>
        <section className="choices">
          <Choice<Language> name={t('settings.language')} value={prefs.language} options={[['en', 'English'], ['zh', '中文']]} onChange={(language) => setPrefs({ language })} />
          <Choice<Theme>
            name={t('settings.theme')}
            value={prefs.theme}
            options={[['system', t('settings.system')], ['light', t('settings.light')], ['dark', t('settings.dark')]]}
            onChange={(theme) => setPrefs({ theme })}
          />
          <Choice<Density>
            name={t('settings.density')}
            value={prefs.density}
            options={[['compact', t('settings.compact')], ['normal', t('settings.normal')], ['roomy', t('settings.roomy')]]}
            onChange={(density) => setPrefs({ density })}
          />
        </section>
        {settings.data ? (
          <section>
            <h2>{t('settings.server')}</h2>
            <dl className="facts server-facts">
              <dt>{t('composer.model')}</dt>
              <dd>{settings.data.model || '–'}</dd>
              <dt>{t('composer.mode')}</dt>
              <dd>{t(`mode.${settings.data.mode}`)} · {t(`mode.${settings.data.mode}.means`)}</dd>
              <dt>{t('settings.context')}</dt>
              <dd className="number">{settings.data.context_tokens ?? '–'}</dd>
            </dl>
          </section>
        ) : null}
        <section>
          <div className="row">
            <h2 className="spread">doctor</h2>
            <button className="button small" onClick={doctor.reload}>
              {t('settings.again')}
            </button>
          </div>
          {doctor.error?.status === 404 ? <p className="muted">{t('settings.noDoctor')}</p> : doctor.error ? <Trouble error={doctor.error} onRetry={doctor.reload} /> : null}
          <ul className="findings">
            {doctor.data?.findings.map((finding, place) => (
              <Found key={place} finding={finding} />
            ))}
          </ul>
        </section>
        <section>
          <h2>{t('settings.keys')}</h2>
          <dl className="facts keys">
            {([lead, '/', 'g 1 … g 8', 'A S D Esc', 'j k ↵'] as const).map((keys, place) => {
              const word = `keys.${place}`
              return (
                <div key={keys} className="row">
                  <dt className="mono">{keys}</dt>
                  <dd>{isWord(word) ? t(word) : ''}</dd>
                </div>
              )
            })}
          </dl>
        </section>
        <p className="tiny muted">nuncius {health.data?.version ?? ''} · Apache-2.0 · {t('settings.noTelemetry')}</p>
      </div>
    </div>
  )
}

interface ChoiceGiven<T extends string> {
  name: string
  value: T
  options: readonly (readonly [T, string])[]
  onChange: (value: T) => void
}

function Choice<T extends string>({ name, value, options, onChange }: ChoiceGiven<T>) {
  return (
    <fieldset>
      <legend className="tiny muted">{name}</legend>
      {options.map(([one, words]) => (
        <button key={one} type="button" className="chip" aria-pressed={one === value} onClick={() => onChange(one)}>
          {words}
        </button>
      ))}
    </fieldset>
  )
}

/** The key that Apple's keyboards have and others call Ctrl. */
const lead = `${modifier}K`

const icons = { ok: CircleCheck, note: Info, failed: CircleAlert }
const tones = { ok: 'good', note: 'muted', failed: 'bad' }

function Found({ finding }: { finding: Finding }) {
  const t = useWords()
  const Icon = icons[finding.state]
  return (
    <li className="finding">
      <Icon aria-hidden className={tones[finding.state]} />
      <div>
        <span className="hidden-text">{t(`finding.${finding.state}`)}: </span>
        <strong>{finding.name}</strong> {finding.text}
        {finding.mend ? <p className="muted">{finding.mend}</p> : null}
      </div>
    </li>
  )
}
