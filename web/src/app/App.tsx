import { Ellipsis } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import type { Pending } from '../api/shapes'
import { useLoaded } from '../api/useLoaded'
import { ResearchPage } from '../research/ResearchPage'
import { Boundary } from '../ui/Boundary'
import { useWords } from '../words'
import { places } from './places'
import { go, href, type Route, useRoute } from './route'
import './app.css'

const LibraryPage = lazy(() => import('../library/LibraryPage').then((page) => ({ default: page.LibraryPage })))
const ReaderPage = lazy(() => import('../reader/ReaderPage').then((page) => ({ default: page.ReaderPage })))
const TargetsPage = lazy(() => import('../targets/TargetsPage').then((page) => ({ default: page.TargetsPage })))
const MetricsPage = lazy(() => import('../metrics/MetricsPage').then((page) => ({ default: page.MetricsPage })))
const AuditPage = lazy(() => import('../audit/AuditPage').then((page) => ({ default: page.AuditPage })))
const PermissionsPage = lazy(() => import('../permissions/PermissionsPage').then((page) => ({ default: page.PermissionsPage })))
const SettingsPage = lazy(() => import('../settings/SettingsPage').then((page) => ({ default: page.SettingsPage })))

export function App() {
  const t = useWords()
  const route = useRoute()
  useShortcuts()
  const word = places.find((place) => place.page === route.page)?.word
  useEffect(() => {
    document.title = word ? `${t(word)} · nuncius` : 'nuncius'
  }, [word, t])
  return (
    <div className="app">
      <a className="skip" href="#main" onClick={(event) => {
        event.preventDefault()
        document.getElementById('main')?.focus()
      }}>
        {t('nav.skip')}
      </a>
      <Navigation page={route.page} session={route.page === 'research' ? route.id : ''} />
      <div className="place" id="main" tabIndex={-1}>
        <Boundary key={route.page}>
          <Suspense fallback={null}>
            <Page route={route} />
          </Suspense>
        </Boundary>
      </div>
    </div>
  )
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case 'library':
      return <LibraryPage route={route} />
    case 'reader':
      return <ReaderPage key={route.id} route={route} />
    case 'targets':
      return <TargetsPage route={route} />
    case 'metrics':
      return <MetricsPage route={route} />
    case 'audit':
      return <AuditPage route={route} />
    case 'permissions':
      return <PermissionsPage />
    case 'settings':
      return <SettingsPage />
    default:
      return <ResearchPage route={route} />
  }
}

function Navigation({ page, session }: { page: string; session: string }) {
  const t = useWords()
  const [more, setMore] = useState(false)
  const { data } = useLoaded<{ pending: Pending[] }>('/pending', 5000)
  const rail = useRef<HTMLElement>(null)
  const moreButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!more) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault() // this is what it closes
      setMore(false)
      moreButton.current?.focus()
    }
    const onPoint = (event: PointerEvent) => {
      if (event.target instanceof Node && !rail.current?.contains(event.target)) setMore(false)
    }
    document.addEventListener('keydown', onKey, true)
    document.addEventListener('pointerdown', onPoint, true)
    return () => {
      document.removeEventListener('keydown', onKey, true)
      document.removeEventListener('pointerdown', onPoint, true)
    }
  }, [more])
  const elsewhere = (data?.pending ?? []).filter((one) => one.session_id !== session)
  const first = elsewhere[0]
  return (
    <nav ref={rail} className="rail" aria-label={t('nav.title')} data-more={more}>
      {places.map(({ page: name, icon: Icon, word }, place) => (
        <a
          key={name}
          href={href(name)}
          className={`rail-place ${place > 3 ? 'rail-later' : ''}`}
          aria-current={name === page ? 'page' : undefined}
          onClick={() => setMore(false)}
        >
          <Icon aria-hidden />
          <span>{t(word)}</span>
        </a>
      ))}
      <button ref={moreButton} className="rail-place rail-more" aria-expanded={more} onClick={() => setMore(!more)}>
        <Ellipsis aria-hidden />
        <span>{t('nav.more')}</span>
      </button>
      {first ? (
        <a className="rail-place rail-waits" href={href('research', first.session_id)}>
          <span className="rail-count number">{elsewhere.length}</span>
          <span>{t('nav.waits')}</span>
        </a>
      ) : null}
    </nav>
  )
}

/** `⌘K` begins a session; `g` and a number goes to a place, as in many readers. */
function useShortcuts(): void {
  useEffect(() => {
    let lead = 0
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        go(href('research', '', { fresh: Date.now() }))
        setTimeout(() => document.querySelector<HTMLElement>('.composer textarea')?.focus(), 50)
      } else if (typing || event.metaKey || event.ctrlKey || event.altKey) {
        return
      } else if (event.key === 'g') {
        lead = Date.now()
      } else if (/^[1-8]$/.test(event.key) && Date.now() - lead < 1000) {
        go(href(places[Number(event.key) - 1]?.page ?? 'research'))
      } else if (event.key === '/') {
        const field = document.querySelector<HTMLElement>('input[type=search], .composer textarea')
        if (field) {
          event.preventDefault()
          field.focus()
        }
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
