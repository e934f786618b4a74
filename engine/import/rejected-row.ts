import type { ReadRow } from './row-reader.ts'

/**
 * A row that could not be saved, as a line of a file of errors: `{ line, errors, row }` as JSON, with the row as in its source, so that the
 * file can be loaded after corrections.
 */
export function rejectedRow(
  { line, json, value, raw }: { readonly line: number } & ReadRow,
  errors: readonly string[],
): string {
  const row = raw ? JSON.stringify(raw()) : value instanceof Error ? JSON.stringify(json) : inOneLine(json)
  return `{"line":${line},"errors":${JSON.stringify(errors)},"row":${row}}`
}

/** Removes line ends, which JSON has only between its tokens. */
const inOneLine = (json: string): string => json.replace(/\s*[\r\n]\s*/g, ' ')
