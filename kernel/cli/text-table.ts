/** Maximum width of a table on a terminal, in characters; cells of its last column are cut. */
const MAX_WIDTH = 140
/** Matches control characters, which would move the cursor of a terminal. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Lines of a table with aligned columns. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows].map(row => row.map(cell => cell.replace(CONTROL, ' ')))
  const widths = head.map((_, i) => Math.max(...lines.map(row => row[i]!.length)))
  return lines.map(row => {
    const line = row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')
    return `  ${line.slice(0, MAX_WIDTH).trimEnd()}`
  })
}
