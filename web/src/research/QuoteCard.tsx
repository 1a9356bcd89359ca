/** A quote as it stands in its paper, with the place and how it was found again. */
import { Check, ScanText } from 'lucide-react'
import type { Citation } from '../api/events'
import { Quoted } from '../markdown/Markdown'
import { PlainTitle } from '../ui/PlainTitle'
import { shortReference } from '../ui/format'
import { useWords } from '../words'
import './quote.css'

/** Everything is phrasing content: the card also stands within a paragraph. */
export function QuoteCard({ citation, number }: { citation: Citation; number?: boolean }) {
  const t = useWords()
  const place = [
    citation.page ? t('cite.page', { page: citation.page }) : '',
    citation.section ? citation.section.split(' > ').at(-1) : '',
  ].filter(Boolean)
  return (
    <span className="quote-card">
      <span className="quote-head">
        {number ? <span className="quote-number">{citation.key}</span> : null}
        <span className="quote-who">{shortReference(citation.authors, citation.year, citation.title)}</span>
      </span>
      <span className="quote-title">
        <PlainTitle text={citation.title} />
      </span>
      <q className="quote-text">
        <Quoted text={citation.quote} />
      </q>
      <span className="quote-place">
        <span>{place.join(' · ')}</span>
        <span className="row">
          {citation.check === 'ocr' ? <ScanText aria-hidden /> : <Check aria-hidden />} {t(`check.${citation.check}`)}
        </span>
      </span>
    </span>
  )
}
