import { href } from '../../app/route'
import { Quoted } from '../../markdown/Markdown'
import { PlainTitle } from '../../ui/PlainTitle'
import { useWords } from '../../words'
import type { ShownPassage } from './shapes'

export function PassagesCard({ passages }: { passages: readonly ShownPassage[] }) {
  const t = useWords()
  return (
    <ul className="passages">
      {passages.map((passage) => {
        const quote = passage.sentences.join(' ')
        const page = /p\. (\d+)/.exec(passage.place)?.[1] ?? null
        return (
          <li key={passage.id}>
            <a className="row tiny" href={href('reader', passage.paperId, { page, quote: quote.slice(0, 600) })}>
              <span className="clip">
                <PlainTitle text={passage.title || passage.paperId} />
              </span>
              <span className="muted clip">{passage.place}</span>
              <span className="hidden-text">{t('paper.open')}</span>
            </a>
            <blockquote>
              <Quoted text={quote} />
            </blockquote>
          </li>
        )
      })}
    </ul>
  )
}
