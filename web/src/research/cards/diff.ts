/** Which lines of a text an edit takes away and which it brings. */

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'gap'
  text: string
}

const MOST_CELLS = 4_000_000
const CONTEXT = 3

/** Longest common lines; texts too large for that are shown as all removed and all added. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before === '' ? [] : before.split('\n')
  const now = after === '' ? [] : after.split('\n')
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const middle = between(old.slice(head, old.length - tail), now.slice(head, now.length - tail))
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }))
  return folded([...same(old.slice(0, head)), ...middle, ...same(old.slice(old.length - tail))])
}

function between(old: string[], now: string[]): DiffLine[] {
  const width = now.length + 1
  if ((old.length + 1) * width > MOST_CELLS) {
    return [
      ...old.map((text): DiffLine => ({ kind: 'removed', text })),
      ...now.map((text): DiffLine => ({ kind: 'added', text })),
    ]
  }
  const lengths = new Uint32Array((old.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const lines: DiffLine[] = []
  let row = 0
  let column = 0
  while (row < old.length || column < now.length) {
    const [was, is] = [old[row], now[column]]
    if (was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was })
      row++
      column++
    } else if (was !== undefined && (is === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: 'removed', text: was })
      row++
    } else {
      lines.push({ kind: 'added', text: is ?? '' })
      column++
    }
  }
  return lines
}

/** Leave a few equal lines around each change. */
function folded(lines: DiffLine[]): DiffLine[] {
  const near = lines.map((_, place) =>
    lines.slice(Math.max(0, place - CONTEXT), place + CONTEXT + 1).some((line) => line.kind !== 'same'),
  )
  const out: DiffLine[] = []
  lines.forEach((line, place) => {
    if (near[place]) out.push(line)
    else if (out.at(-1)?.kind !== 'gap') out.push({ kind: 'gap', text: '' })
  })
  return out
}
