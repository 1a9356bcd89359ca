/** Rows as CSV (RFC 4180), for spreadsheets and for programs. */

/** A spreadsheet would read what begins so as a formula. */
const FORMULA = /^[=+\-@\t\r]/

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  const plain = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** The columns are the fields of the first row. */
export function toCsv(rows: readonly object[]): string {
  const columns = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => columns.map((name) => cell((row as Record<string, unknown>)[name])).join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}
