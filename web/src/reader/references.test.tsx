import { fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { Reference } from '../api/shapes'
import { TextPane } from './TextPane'
import { References } from './References'

function work(number: number, more: Partial<Reference>): Reference {
  return { number, label: '', first_author: '', year: '', text: '', page: null, doi: null, arxiv_id: null, bibcode: null, made: false, paper_id: null, ...more }
}

const works = [
  work(1, { first_author: 'Alder', year: '2019', text: 'Alder, B. 2019, ApJ, 870, 12 <img src=x onerror=alert(1)>', doi: '10.1/x', bibcode: '2019ApJ...870...12A', made: true }),
  work(2, { first_author: 'Birch', year: '2020', text: 'Birch, C. 2020, in prep.' }),
  work(3, { first_author: 'Elm', year: '2021', text: 'Elm, E. 2021, arXiv:2101.00001', arxiv_id: '2101.00001', paper_id: 'abcdefgh' }),
]

test('each work has what leads to it: its services, the library, or the word that there is nothing', () => {
  render(<References works={works} chosen={0} />)
  const items = screen.getAllByRole('listitem')
  const item = (place: number) => items[place] ?? document.body
  expect(within(item(0)).getByRole('link', { name: /DOI/ })).toHaveProperty('href', 'https://doi.org/10.1/x')
  expect(within(item(0)).getByRole('link', { name: /ADS\?/ })).toHaveProperty('href', 'https://ui.adsabs.harvard.edu/abs/2019ApJ...870...12A')
  expect(within(item(0)).getByRole('button', { name: /Alder 2019/ })).toBeTruthy()
  expect(item(0).querySelector('img')).toBeNull()
  expect(within(item(1)).queryByRole('button')).toBeNull()
  expect(within(item(2)).getByRole('link', { name: /Elm 2021/ })).toHaveProperty('hash', '#/reader/abcdefgh')
})

test('a citation in the text shows its work at once, to the pointer and to the keyboard, and chooses it', async () => {
  const chosen = vi.fn()
  const ignore = () => undefined
  render(<TextPane markdown={'Spots turn (Alder 2019; Birch 2020).'} marks={[]} works={works} onWork={chosen} control={null} onPage={ignore} onMark={ignore} onPlace={ignore} start={null} settled />)
  expect(screen.queryByRole('note')).toBeNull()
  const cited = screen.getByRole('button', { name: 'Alder 2019' }).parentElement ?? document.body
  fireEvent.mouseEnter(cited)
  expect(screen.getByRole('note').textContent).toContain('ApJ, 870, 12')
  fireEvent.mouseLeave(cited)
  expect(screen.queryByRole('note')).toBeNull()
  await userEvent.tab()
  await userEvent.tab()
  expect(screen.getByRole('note').textContent).toContain('ApJ, 870, 12')
  await userEvent.keyboard('{Escape}')
  expect(screen.queryByRole('note')).toBeNull()
  await userEvent.keyboard('{Enter}')
  expect(chosen).toHaveBeenCalledWith(1)
})
