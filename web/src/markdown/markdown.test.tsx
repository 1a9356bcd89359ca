import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Markdown, preloadFormulas, Quoted } from './Markdown'
import { locate } from './marks'
import { withLatex } from './latex'
import { onlyMath, withMath } from './math'

await preloadFormulas()

test.each([
  ['It costs $5 and $10.', 'It costs \\$5 and \\$10.'],
  ['from $5-$10 each', 'from \\$5-\\$10 each'],
  ['a mass $M = 3$ here', 'a mass $M = 3$ here'],
  ['\\(H_0\\) and `\\(code\\)`', '$H_0$ and `\\(code\\)`'],
  ['one $ alone', 'one \\$ alone'],
  ['```\n$x and $y\n```', '```\n$x and $y\n```'],
])('dollars of money are no formula: %s', (text, expected) => {
  expect(withMath(text)).toBe(expected)
})

test('display mathematics in brackets is set on its own line', () => {
  const { container } = render(<Markdown text={'Then \\[ v = H_0 d \\] holds.'} />)
  expect(container.querySelector('.katex-display annotation')?.textContent).toBe('v = H_0 d')
})

test('a sentence is found across markup, line ends, ligatures and citation marks', () => {
  const texts = ['The value of ', 'H0', ' is 73.0 ± 1.0 km/s [1], as signi\ufb01cant as be-\nfore. More.']
  const spans = locate(texts, 'H0 is 73.0 ± 1.0 km/s, as significant as before.')
  expect([...spans.keys()]).toEqual([1, 2])
  expect(texts[2]?.slice(0, spans.get(2)?.end)).toMatch(/be-\nfore\.$/)
})

test('a sentence that is not there is marked nowhere', () => {
  expect(locate(['Nothing of the kind.'], 'The moon is made of cheese.').size).toBe(0)
})

test('an unsupported sentence is marked once at its end, with its markup inside', () => {
  const { container } = render(
    <Markdown
      text="Good. The **age** is 40 Myr. Also good."
      marks={[{ id: 'u0', kind: 'unsupported', text: 'The age is 40 Myr.' }]}
    />,
  )
  const marked = [...container.querySelectorAll('mark')].map((node) => node.textContent).join('')
  expect(marked).toBe('The age is 40 Myr.')
})

test('citations become what the caller draws, other brackets stay', () => {
  render(<Markdown text="Known [1], [1, 2] and [7]." citationKeys={['1', '2']} citation={(key) => <b>c{key}</b>} />)
  expect(screen.getAllByText('c1')).toHaveLength(2)
  expect(screen.getByText(/and \[7\]\./)).toBeTruthy()
})

test('a link shows its host and opens without an opener', () => {
  render(<Markdown text="[the paper](https://arxiv.org/abs/1)" />)
  const link = screen.getByRole('link')
  expect(link.getAttribute('rel')).toContain('noopener')
  expect(link.textContent).toBe('the paper (arxiv.org)')
})

test('of a stored quote only the formulas are set; all other signs stand as they are stored', () => {
  const stored = '1. | A_b | *x* costs $5, [1](http://x.example) <b>\n$$ H_0 = 70 $$ and \\(v\\)'
  const { container } = render(
    <p>
      <Quoted text={stored} />
    </p>,
  )
  expect([...container.querySelectorAll('annotation')].map((node) => node.textContent)).toEqual(['H_0 = 70', 'v'])
  expect(container.querySelectorAll('a, em, b, ol, li, table, div div')).toHaveLength(0)
  container.querySelectorAll('.katex').forEach((node) => node.remove())
  expect(container.textContent).toContain('1. | A_b | *x* costs $5, [1](http://x.example) <b>')
  expect(onlyMath('a\\b')).toBe('a\\\\b')
})

test('what is copied or noted holds formulas as LaTeX and nothing that is not of the text', () => {
  const { container } = render(<Markdown text={'So $H_0$ is\n\n$$\nx^2\n$$\n\nsee [a](https://a.example)'} />)
  const range = document.createRange()
  range.selectNodeContents(container)
  const text = withLatex(range.cloneContents())
  expect(text.replace(/\s+/g, ' ').trim()).toBe('So $H_0$ is $$x^2$$ see a')
})
