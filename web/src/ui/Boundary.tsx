import { Component, type ReactNode } from 'react'
import { getPrefs } from './prefs'
import { translator } from '../words'

/** A page that breaks says so and leaves the others standing. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    const t = translator(getPrefs().language)
    return (
      <div className="empty" role="alert">
        <h2>{t('page.broke')}</h2>
        <p className="mono tiny">{error.message}</p>
        <p>
          <button className="button" onClick={() => location.reload()}>
            {t('page.reload')}
          </button>
        </p>
      </div>
    )
  }
}
