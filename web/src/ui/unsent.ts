/** What was typed or chosen and not sent yet: a look at another page, a scroll or a reload does not lose it. */
import { useState } from 'react'

const PREFIX = 'nuncius.unsent.'

function kept(place: string): string {
  try {
    return sessionStorage.getItem(PREFIX + place) ?? ''
  } catch {
    return '' // storage is switched off
  }
}

function keep(place: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + place, text)
    else sessionStorage.removeItem(PREFIX + place)
  } catch {
    // Full or switched off: the page works, it only forgets.
  }
}

/** A state of text that this tab keeps under `place`; empty: nothing is kept. */
export function useUnsent(place: string, otherwise = ''): [string, (text: string) => void] {
  const [text, setText] = useState(() => kept(place) || otherwise)
  return [
    text,
    (next) => {
      keep(place, next)
      setText(next)
    },
  ]
}
