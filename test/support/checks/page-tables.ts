import { readFileSync } from 'node:fs'

/** A row of a table, by column headings. */
export type Row = Readonly<Record<string, string>>

/** Tables of a page by the heading above them; several tables below one heading are one list of rows. */
export function tablesOf(file: string): ReadonlyMap<string, readonly Row[]> {
  const tables = new Map<string, Row[]>()
  let heading = ''
  let heads: string[] | undefined
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
    if (!line.startsWith('|')) heads = undefined
    else if (!heads) heads = cellsOf(line)
    else if (!/^\|[-: |]+\|$/.test(line)) {
      const cells = cellsOf(line)
      const row = Object.fromEntries(heads.map((head, i) => [head, cells[i] ?? '']))
      tables.set(heading, [...(tables.get(heading) ?? []), row])
    }
  }
  return tables
}

/** Splits a row into cells; `\|` is a vertical line inside a cell. */
const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

/** Texts between backticks. */
export const codeIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
