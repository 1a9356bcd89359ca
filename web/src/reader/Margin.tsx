/** Beside the text: the notes on it, or the works that it cites. */
import type { ReactNode } from 'react'
import { useWords } from '../words'

export type MarginTab = 'notes' | 'references'

interface Given {
  tab: MarginTab
  counts: Record<MarginTab, number>
  onTab: (tab: MarginTab) => void
  children: ReactNode
}

export function Margin({ tab, counts, onTab, children }: Given) {
  const t = useWords()
  return (
    <aside className="margin" aria-label={t(`reader.${tab}`)}>
      <div className="row margin-tabs" role="group" aria-label={t('reader.beside')}>
        {(['notes', 'references'] as const).map((name) => (
          <button key={name} className="button quiet small" aria-pressed={tab === name} onClick={() => onTab(name)}>
            {t(`reader.${name}`)} <span className="muted number">{counts[name] || ''}</span>
          </button>
        ))}
      </div>
      {children}
    </aside>
  )
}
