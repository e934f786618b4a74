/** Tables as text: from spreadsheets through the clipboard (tabs), or from CSV files. */

const DELIMITERS = ['\t', ';', ','] as const

/** Cells of a row. An empty cell is null, a quoted empty cell an empty string, as in files for imports. */
export type Cells = readonly (string | null)[]

/** Parses rows and cells. Quoted cells may contain delimiters, line ends and doubled quotes; empty rows are left out. */
export function parseTable(text: string): readonly Cells[] {
  const source = text.replace(/^\uFEFF/, '')
  const delimiter = delimiterOf(source)
  const rows: Cells[] = []
  let row: (string | null)[] = []
  let at = 0
  while (at <= source.length) {
    const { cell, end } = source[at] === '"' ? quotedCell(source, at, delimiter) : plainCell(source, at, delimiter)
    row.push(cell)
    at = end + 1
    if (source[end] === delimiter) continue
    if (source[end] === '\r' && source[at] === '\n') at++
    if (row.some(cell => cell !== null)) rows.push(row)
    row = []
  }
  return rows
}

/** The most frequent delimiter of the first line; a tab wins, since tabs do not occur inside cells. */
function delimiterOf(text: string): string {
  const line = /^[^\r\n]*/.exec(text)![0].replace(/"(?:[^"]|"")*"/g, '')
  if (line.includes('\t')) return '\t'
  const counts = DELIMITERS.map(delimiter => ({ delimiter, count: line.split(delimiter).length }))
  return counts.reduce((best, each) => (each.count > best.count ? each : best)).delimiter
}

interface ParsedCell {
  readonly cell: string | null
  readonly end: number
}

function plainCell(text: string, start: number, delimiter: string): ParsedCell {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++
  return { cell: text.slice(start, end) || null, end }
}

/** Parses a quoted cell; characters between the closing quote and the next delimiter belong to it. */
function quotedCell(text: string, start: number, delimiter: string): ParsedCell {
  let cell = ''
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    // An unclosed quote is an ordinary character.
    if (quote < 0) return plainCell(text, start, delimiter)
    cell += text.slice(at, quote)
    if (text[quote + 1] !== '"') {
      const tail = plainCell(text, quote + 1, delimiter)
      return { cell: cell + (tail.cell ?? ''), end: tail.end }
    }
    cell += '"'
    at = quote + 2
  }
}

/** Rows as tab-separated text, for a file or the clipboard. */
export const writeTable = (rows: readonly Cells[]): string =>
  rows.map(cells => cells.map(writeCell).join('\t')).join('\n')

const writeCell = (cell: string | null): string =>
  cell === '' || (cell !== null && /[\t\r\n"]/.test(cell)) ? `"${cell.replaceAll('"', '""')}"` : (cell ?? '')
