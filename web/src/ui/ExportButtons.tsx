/** Saves what a page shows as CSV or JSON. */
import { Download } from 'lucide-react'
import { useWords } from '../words'
import { save } from './save'
import { toCsv } from './table'

interface Given {
  /** The file's name without its ending. */
  name: string
  rows: readonly object[]
  /** What JSON holds beyond the rows; the rows where it is not given. */
  whole?: object
}

export function ExportButtons({ name, rows, whole }: Given) {
  const t = useWords()
  return (
    <span className="row" role="group" aria-label={t('library.export')}>
      <Download aria-hidden />
      <button className="button quiet" disabled={!rows.length} onClick={() => save(`${name}.csv`, toCsv(rows))}>
        CSV
      </button>
      <button className="button quiet" disabled={!rows.length} onClick={() => save(`${name}.json`, JSON.stringify(whole ?? rows, null, 2))}>
        JSON
      </button>
    </span>
  )
}
