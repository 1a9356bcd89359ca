import { BookOpen, ChartLine, Crosshair, LibraryBig, type LucideIcon, ScrollText, Settings, ShieldCheck, Telescope } from 'lucide-react'
import type { Word } from '../words'

export interface Place {
  page: string
  icon: LucideIcon
  word: Word
}

/** The first four have a place in the bar of a small screen; the rest stand behind "more". */
export const places: readonly Place[] = [
  { page: 'research', icon: Telescope, word: 'nav.research' },
  { page: 'library', icon: LibraryBig, word: 'nav.library' },
  { page: 'reader', icon: BookOpen, word: 'nav.reader' },
  { page: 'targets', icon: Crosshair, word: 'nav.targets' },
  { page: 'metrics', icon: ChartLine, word: 'nav.metrics' },
  { page: 'audit', icon: ScrollText, word: 'nav.audit' },
  { page: 'permissions', icon: ShieldCheck, word: 'nav.permissions' },
  { page: 'settings', icon: Settings, word: 'nav.settings' },
]
