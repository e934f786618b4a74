import { isJsonObject } from '../base/json-object.ts'
import { inOneLine } from '../base/text/in-one-line.ts'
import { attributeName } from './attribute-name.ts'
import { memberTexts } from './member-texts.ts'

/** Line and reasons of a rejected row in an error file, as columns of CSV or members of an object. A load leaves them out. */
const LINE = '__LINE'
export const REASONS = '__ERROR'
/** Member of an error file for a text that is not a row. A load reads the text, once it is corrected. */
export const ROW = '__ROW'

export const isReason = (name: string): boolean => name === LINE || name === REASONS

interface SourceRow {
  readonly line: number
  /** The row as it is in its file. */
  readonly text: string
}

/** An error file with rows in the form of their source, to be loaded after corrections. */
export interface ErrorRows {
  /** First line of the file. */
  readonly head?: string
  /** A rejected row as a line. */
  line(row: SourceRow, reasons: readonly string[]): string
}

/**
 * Rows of CSV, behind the line and the reasons, so that a row with too few or too many fields stays as it is.
 * @param header names of the columns, so that a load finds their attributes; those of an earlier error file are left out
 */
export function csvErrors(header: readonly string[], delimiter: string): ErrorRows {
  const isAgain = header[0] === LINE && header[1] === REASONS
  const names = isAgain ? header.slice(2) : header
  return {
    head: [LINE, REASONS, ...names.map(name => quoteIn(name, delimiter))].join(delimiter),
    line({ line, text }, reasons) {
      const row = text.replace(/\r$/, '')
      return [line, quote(textOf(reasons)), isAgain ? withoutFirst(row, delimiter) : row].join(delimiter)
    },
  }
}

/** A row of an error file without its line and reasons; the row itself if it does not begin with them. */
function withoutFirst(row: string, delimiter: string): string {
  const start = row.search(/\D|$/) + 1
  if (row[start - 1] !== delimiter) return row
  const end = row[start] === '"' ? afterQuotes(row, start) : row.indexOf(delimiter, start)
  return row[end] !== delimiter || (row[start] !== '"' && row.slice(start, end).includes('"'))
    ? row
    : row.slice(end + 1)
}

/** Index after the quote that ends a field; -1 if it does not end. */
function afterQuotes(row: string, start: number): number {
  let quote = row.indexOf('"', start + 1)
  while (quote >= 0 && row[quote + 1] === '"') quote = row.indexOf('"', quote + 2)
  return quote < 0 ? -1 : quote + 1
}

/** The last of several reasons only says that the entity was not saved. */
const textOf = (reasons: readonly string[]): string => (reasons.length > 1 ? reasons.slice(0, -1) : reasons).join('; ')

const quote = (text: string): string => `"${inOneLine(text.replaceAll('"', '""'))}"`
const quoteIn = (name: string, delimiter: string): string =>
  name.includes(delimiter) || /["\r\n]/.test(name) ? quote(name) : name

/** Objects, each on a line. */
export const jsonErrors: ErrorRows = {
  line({ line, text }, reasons) {
    const own = `"${LINE}":${line},"${REASONS}":${JSON.stringify(textOf(reasons))}`
    return `{${[own, ...membersOf(text)].join(',')}}`
  },
}

/** Members of an object as they are written, without those of an earlier error file. */
function membersOf(text: string): string[] {
  if (!isObject(text)) return [`"${ROW}":${JSON.stringify(text.toWellFormed())}`]
  return Array.from(memberTexts(text)).flatMap(([name, value]) =>
    isReason(name) ? [] : [`${JSON.stringify(name)}:${inOneLine(value)}`],
  )
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && !Object.hasOwn(value, '__proto__') && text.isWellFormed()
  } catch {
    return false
  }
}

/** An object of an error file as it was in its source. */
export const withoutReasons = (text: string): string => `{${membersOf(text).join(',')}}`

/** Names of columns from which a load finds the attributes that they had. @param attributes null for a column that was left out */
export const columnNames = (header: readonly string[], attributes: readonly (string | null)[]): string[] =>
  header.map((name, i) => {
    const attribute = attributes[i] ?? null
    const isOwn = attribute === null || name === attribute || attributeName(name) === attribute
    return isOwn ? name : attribute
  })
