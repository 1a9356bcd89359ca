import { expect, test } from 'vitest'
import type { Reference } from '../api/shapes'
import { finder } from './citing'

function work(number: number, first_author: string, year: string, text = '', label = ''): Reference {
  return { number, label, first_author, year, text: `${first_author}, ${text} ${year}`, page: null, doi: null, arxiv_id: null, bibcode: null, made: false, paper_id: null }
}

const works = [
  work(1, 'Alder', '2019a', 'B., & Birch, C.'),
  work(2, 'Alder', '2019b', 'B., Cedar, D., & Elm, E.'),
  work(3, 'Birch', '2020', 'C.'),
  work(4, 'van der Elm', '2021', 'E., & Oak, F.'),
  work(5, 'The Oak Collaboration', '2022', 'Pine, G.'),
  work(6, 'Planck Collaboration', '2016', 'XIII.'),
  work(7, 'Planck Collaboration', '2016', 'XIV.'),
  work(8, 'O’Fir', '2018'),
  work(9, '王晓明', '2023'),
  work(10, 'Alder', '2017', 'B.'),
]
const find = finder(works)
const shown = (text: string) => find(text).map((one) => [text.slice(one.start, one.end), one.works])

test.each<[string, [string, number[]][]]>([
  ['as Birch (2020) said', [['Birch (2020', [3]]]],
  ['seen before (e.g. Birch 2020; van der Elm & Oak 2021).', [['Birch 2020', [3]], ['van der Elm & Oak 2021', [4]]]],
  ['(Alder et al. 2019b, 2017)', [['Alder et al. 2019b', [2]], ['2017', [10]]]],
  ['Alder & Birch (2019a)', [['Alder & Birch (2019a', [1]]]],
  ['Alder et al. (2019a,b)', [['Alder et al. (2019a,b', [1, 2]]]],
  ['Alder et al. 2019', [['Alder et al. 2019', [1, 2]]]],
  ['Alder and Birch, 2019', [['Alder and Birch, 2019', [1]]]],
  ['Birch’s (2020) stars', [['Birch’s (2020', [3]]]],
  ['the Oak Collaboration et al. (2022)', [['the Oak Collaboration et al. (2022', [5]]]],
  ['Planck Collaboration XIV (2016)', [['Planck Collaboration XIV (2016', [7]]]],
  ["O'Fir 2018", [["O'Fir 2018", [8]]]],
  ['王晓明等人（2023）', [['王晓明等人（2023', [9]]]],
  ['王晓明等人 (2023)', [['王晓明等人 (2023', [9]]]],
])('%s', (text, expected) => {
  expect(shown(text)).toEqual(expected)
})

test.each([
  'in the year 2020 we looked',
  'Birchwood 2020',
  'Birch 2021',
  'GW190521 and 2020-01-02, arXiv:2020.12345, doi:10.1/2020/3',
  'Birch looked at stars. Later others found more. In 2020 they stopped.',
  'Received 2019 May 2; Birch saw it',
  '',
])('no citation: %s', (text) => {
  expect(shown(text)).toEqual([])
})

test('labels in brackets are found one by one and as ranges, unknown ones are not', () => {
  const byLabel = finder([work(1, 'Alder', '2019', '', '1'), work(2, 'Birch', '2020', '', '2'), work(3, 'Elm', '2021', '', '3')])
  const found = (text: string) => byLabel(text).map((one) => one.works)
  expect(found('as in [1], [2, 3] and [1–3]')).toEqual([[1], [2, 3], [1, 2, 3]])
  expect(found('the interval [5, 10] and a[0]')).toEqual([])
  expect(finder(works)('as in [1]')).toEqual([])
})

test('marks never overlap and stand in order, whatever the text', () => {
  const text = works.map((one) => `${one.first_author} et al. (${one.year}, 2019a,b; 2016)`).join(' & ')
  const found = find(text.repeat(3))
  expect(found.length).toBeGreaterThan(20)
  found.forEach((one, place) => {
    expect(one.start).toBeLessThan(one.end)
    if (place) expect(one.start).toBeGreaterThanOrEqual(found[place - 1]?.end ?? 0)
  })
})
