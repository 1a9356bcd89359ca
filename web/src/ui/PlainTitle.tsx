/** A title as services write it: its sub- and superscripts and italics, and nothing else of a tag. */
import { Fragment, type ReactNode } from 'react'

const TAG = /<(sub|sup|i|em)>([^<]*)<\/\1>/gi

export function PlainTitle({ text }: { text: string }) {
  const parts: ReactNode[] = []
  let at = 0
  for (const match of text.matchAll(TAG)) {
    parts.push(text.slice(at, match.index))
    const Tag = (match[1] ?? 'i').toLowerCase() as 'sub' | 'sup' | 'i' | 'em'
    parts.push(<Tag>{match[2]}</Tag>)
    at = match.index + match[0].length
  }
  parts.push(text.slice(at))
  return parts.map((part, place) => <Fragment key={place}>{part}</Fragment>)
}
