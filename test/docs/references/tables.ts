import { readFileSync, writeFileSync } from 'node:fs'

/** A Markdown table. Cells are Markdown without line breaks. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

export const code = (text: string): string => `\`${text}\``
export const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

/**
 * Page with generated tables in their places: between `<!-- table NAME -->` and `<!-- /table -->`.
 * @param tables by name
 * @throws {Error} the page lacks a table, or has one that is not generated
 */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  const names: string[] = []
  const text = page.replaceAll(/(<!-- table (\w+) -->\n).*?(<!-- \/table -->)/gs, (_, start, name: string, end) => {
    names.push(name)
    return `${start}\n${tables[name]}\n\n${end}`
  })
  if (String(names.sort()) !== String(Object.keys(tables).sort()))
    throw new Error(`the page has the tables ${names.join()}; generated are ${Object.keys(tables).join()}`)
  return text
}

/** The file, and what it has to be; with `TESSER_TEST_RENEW` it is written first. */
export function renewed(file: string, tables: Readonly<Record<string, string>>): { found: string; wanted: string } {
  const wanted = withTables(readFileSync(file, 'utf8'), tables)
  if (process.env.TESSER_TEST_RENEW) writeFileSync(file, wanted)
  return { found: readFileSync(file, 'utf8'), wanted }
}
