import { expect, test } from 'vitest'
import { bibtexOf } from '../library/bibtex'
import { identifiers } from '../library/AddDialog'
import { chunksOf } from '../reader/chunks'
import { roundUp } from '../metrics/TimePlot'
import { cost, duration, lastName, revealed, sexagesimal, shortReference, tokens } from './format'

test.each([
  [0, '0 ms'], [999, '999 ms'], [1000, '1.0 s'], [9_960, '10 s'], [59_600, '1 min 00 s'], [185_000, '3 min 05 s'], [7_800_000, '2 h 10 min'], [273_600_000, '3 d 4 h'],
])('%i ms reads as %s', (ms, text) => expect(duration(ms)).toBe(text))

test.each([[999, '999'], [6_149, '6.1k'], [9_970, '10k'], [61_000, '61k'], [999_600, '1.0M']])('%i tokens read as %s', (count, text) =>
  expect(tokens(count)).toBe(text),
)

test('a cost below a cent is not nothing, an unknown one is no number', () => {
  expect([cost(0), cost(0.004), cost(0.125), cost(null)]).toEqual(['$0.00', '< $0.01', '$0.13', '–'])
})

test('sexagesimal never shows sixty', () => {
  expect(sexagesimal(359.99999999, -89.99999999)).toEqual({ ra: '00h 00m 00.00s', dec: '−90° 00′ 00.0″' })
  expect(sexagesimal(83.6287, 22.0147)).toEqual({ ra: '05h 34m 30.89s', dec: '+22° 00′ 52.9″' })
  expect(sexagesimal(-10, -0.5).dec).toBe('−00° 30′ 00.0″')
})

test.each([
  ['Bouma, L. G.', 'Bouma'], ['Luke G. Bouma', 'Bouma'], ['Ewine van Dishoeck', 'van Dishoeck'], ['Carl Sagan Jr.', 'Sagan'], ['张三', '张三'],
  ['Planck Collaboration', 'Planck Collaboration'], ['nuncius sample notes', 'nuncius sample notes'],
])('the family name of %s is %s', (name, family) => expect(lastName(name)).toBe(family))

test('who and when, for people', () => {
  expect(shortReference(['A, X', 'B, Y', 'C, Z'], 2024)).toBe('A et al. 2024')
  expect(shortReference(['A, X', 'B, Y'], null)).toBe('A & B')
  expect(shortReference([], 2020, 'A title')).toBe('A title 2020')
})

test('characters that deceive the eye are shown by number or dropped', () => {
  expect(revealed('rm\u202e x\u200b\u{e0041}\n\tz')).toBe('rm\\u202e x\\u200b\n\tz')
})

test.each([
  ['2112.04510', 1], ['arXiv:2112.04510v2, astro-ph/0604177', 2], ['10.3847/2041-8213/ac5c5b', 1], ['2022ApJ...934L...7R', 1], ['2020A&A...641A...6P', 1],
  ['https://doi.org/10.1038/nature1', 1], ['hubble tension', 0], ['2112.04510 and more', 0], ['', 0],
])('%s names %i papers', (text, count) => expect(identifiers(text)).toHaveLength(count))

test('BibTeX escapes what TeX would read', () => {
  const text = bibtexOf([{ paper_id: 'k', title: '50% of {dust} & $x_1$', authors: ['A, B'], year: 2020, doi: '10.1/a_b', arxiv_id: null, bibcode: '2020A&A...1' }])
  expect(text).toContain('title = {{50\\% of \\{dust\\} \\& \\$x\\_1\\$}},')
  expect(text).toMatch(/^@article\{2020A&A\.\.\.1,/)
})

test('a text is cut at its pages, one without pages at its headings', () => {
  expect(chunksOf('front\n<!-- page 1 -->\na\n<!-- page 2 -->\n\n<!-- page 3 -->\nc')).toEqual([{ page: null, text: 'front' }, { page: 1, text: 'a' }, { page: 3, text: 'c' }])
  expect(chunksOf('# A\nx\n## B\ny').map((chunk) => chunk.page)).toEqual([null, null])
})

test.each([[0, 1], [1, 1], [1.2, 2], [37, 50], [52_000, 100_000]])('an axis for %d ends at %d', (value, top) => expect(roundUp(value)).toBe(top))
