/** Maximum width of a table on a terminal, in characters; cells of its last column are cut. */
const MAX_WIDTH = 140
/** Maximum width of the other columns together; if they need more, their cells are cut. */
const MAX_OTHERS = 110
const MAX_CELL = 36
/** Matches control characters, which would move the cursor of a terminal. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Lines of a table with aligned columns. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const whole = [head, ...rows].map(row => row.map(cell => cell.replace(CONTROL, ' ')))
  const isWide = sum(widthsOf(whole).slice(0, -1)) > MAX_OTHERS
  const lines = isWide ? whole.map(row => row.map((cell, i) => (i < row.length - 1 ? cut(cell) : cell))) : whole
  const widths = widthsOf(lines)
  return lines.map(row => {
    const line = row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')
    return `  ${line.slice(0, MAX_WIDTH).trimEnd()}`
  })
}

const widthsOf = (lines: readonly (readonly string[])[]): number[] =>
  lines[0]!.map((_, i) => Math.max(...lines.map(row => row[i]!.length)))

const sum = (widths: readonly number[]): number => widths.reduce((one, other) => one + other, 0)

const cut = (cell: string): string => (cell.length > MAX_CELL ? `${cell.slice(0, MAX_CELL - 1)}…` : cell)
