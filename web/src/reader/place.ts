/** Where one stopped reading, and the file that is read. */
import { useEffect, useState } from 'react'
import { api } from '../api/client'
import type { Paper } from '../api/shapes'
import { remember, remembered } from '../ui/prefs'

export interface ReadingPlace {
  id: string
  title: string
  page: number
  /** Of the text, as a share of its height. */
  ratio: number
  at: number
}

const KEY = 'nuncius.places'
const MOST = 60

function all(): ReadingPlace[] {
  const kept = remembered<unknown>(KEY, [])
  return Array.isArray(kept) ? (kept as ReadingPlace[]) : []
}

export function placeOf(id: string): ReadingPlace {
  return all().find((place) => place.id === id) ?? { id, title: '', page: 1, ratio: 0, at: 0 }
}

export function keepPlace(id: string, change: Partial<ReadingPlace>): void {
  const place = { ...placeOf(id), ...change, at: Date.now() }
  remember(KEY, [place, ...all().filter((one) => one.id !== id)].slice(0, MOST))
}

export function forgetPlace(id: string): void {
  remember(
    KEY,
    all().filter((one) => one.id !== id),
  )
}

export function lastRead(): ReadingPlace[] {
  return all()
    .filter((place) => place.title)
    .sort((one, other) => other.at - one.at)
    .slice(0, 20)
}

/** The paper's PDF, where it has one that is still there. */
export function useFile(paper: Paper | undefined): { bytes: ArrayBuffer | null; settled: boolean } {
  const [file, setFile] = useState<{ id: string; bytes: ArrayBuffer | null } | null>(null)
  const id = paper?.files.find((one) => one.present)?.kind === 'pdf' ? paper.paper_id : ''
  useEffect(() => {
    if (!id) return
    let wanted = true
    api.bytes(`/papers/${id}/file`).then(
      ({ bytes, type }) => {
        if (wanted) setFile({ id, bytes: type.startsWith('application/pdf') ? bytes : null })
      },
      () => {
        if (wanted) setFile({ id, bytes: null }) // gone since: the text is still there to read
      },
    )
    return () => {
      wanted = false
    }
  }, [id])
  const here = file?.id === id ? file : null
  return { bytes: here?.bytes ?? null, settled: paper !== undefined && (!id || here !== null) }
}
