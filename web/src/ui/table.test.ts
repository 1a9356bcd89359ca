import { expect, test } from 'vitest'
import { toCsv } from './table'

test('what a spreadsheet could misread is quoted, and no formula begins a cell', () => {
  const rows = [
    { id: 1, tool: 'run_bash', note: 'a, "b"\nc', left: null, count: -3 },
    { id: 2, tool: '=cmd()', note: '中文', left: undefined, count: 0 },
  ]
  expect(toCsv(rows)).toBe('id,tool,note,left,count\r\n1,run_bash,"a, ""b""\nc",,-3\r\n2,\'=cmd(),中文,,0\r\n')
})

test('no rows make an empty table', () => {
  expect(toCsv([])).toBe('\r\n')
})
