import { expect, test } from 'vitest'
import { inLayer } from './pdfMarks'

test('numbers of lines between the lines of a quote do not hide it', () => {
  const runs = ['301', 'an older age seems', '302', 'wrong by 20 Myr.', '303']
  expect([...inLayer(runs, 'older age seems wrong by 20 Myr').keys()]).toEqual([1, 3])
})

test('a number that belongs to the quote is looked for first', () => {
  expect([...inLayer(['the age is', '40', 'Myr'], 'the age is 40 Myr').keys()]).toEqual([0, 1, 2])
  expect(inLayer(['the age is', '41', 'Myr'], 'the age is 40 Myr').size).toBe(0)
})
