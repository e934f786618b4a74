import { inOneLine } from '../base/text/in-one-line.ts'
import type { ReadRow } from './row-reader.ts'

/**
 * A row that could not be saved, as a line of a file of errors: `{ line, errors, row }` as JSON, with the row as in its source, so that the
 * file can be loaded after corrections.
 */
export function rejectedRow(
  { line, json, value, raw }: { readonly line: number } & ReadRow,
  errors: readonly string[],
): string {
  // JSON has line ends only between its tokens.
  const row = raw ? JSON.stringify(raw()) : value instanceof Error ? JSON.stringify(json) : inOneLine(json)
  return `{"line":${line},"errors":${JSON.stringify(errors)},"row":${row}}`
}

/** The same, with the row as its text in the source. */
export const rejectedText = (
  { line, text }: { readonly line: number; readonly text: string },
  errors: readonly string[],
): string => JSON.stringify({ line, errors, row: text.toWellFormed() })
