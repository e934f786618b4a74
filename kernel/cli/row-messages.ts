import { basename } from 'node:path'
import { quantity } from '../../engine/base/counted.ts'
import {
  cellText,
  type FileSample,
  type ForeignFormat,
  lossIn,
  type LoadSummary,
  type RelationsBy,
} from '../../engine/command-line.ts'
import type { DataClass } from '../../engine/index.ts'

/** Describes in one line how a file is read. */
export function describeFormat(
  format: string,
  {
    description,
    format: { encoding, delimiter, skipLines = 0, decimal, dates, currencies = [], nulls = [] },
  }: FileSample,
): string {
  if (format !== 'csv') return description ?? `${format.toUpperCase()} in ${encoding}`
  const parts = [
    `CSV in ${encoding}`,
    `${delimiter === '\t' ? 'a tab' : `"${delimiter}"`} between fields`,
    skipLines > 0 && `header in line ${skipLines + 1}`,
    decimal && `numbers with "${decimal}"`,
    dates && `dates ${DATE_WORDS[dates]}`,
    currencies.length > 0 && `amounts in ${currencies.join(' ')}`,
    nulls.length > 0 &&
      `${quantity(nulls.length, 'text')} for null: ${nulls.map(text => JSON.stringify(text)).join(' ')}`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Tells the user how a CSV file or a table is read, before anything is written, and what is ambiguous. */
export function tellFormat(path: string, format: string, sample: FileSample, print: (line: string) => void): void {
  if (format !== 'csv' && sample.description === undefined) return
  print(`${basename(path)}: ${describeFormat(format, sample)}`)
  for (const text of [...(sample.notes ?? []), ...sample.open.map(({ text }) => text)]) print(`  ${text}`)
}

const DATE_WORDS = { ymd: 'year-month-day', dmy: 'day-month-year', mdy: 'month-day-year' } as const

/** Tells the user which digits of the first rows the attributes of an existing dataclass do not keep. */
export function tellLosses(
  { columns }: FileSample,
  attributes: readonly (string | null)[] | undefined,
  { attributesByName }: DataClass,
  print: (line: string) => void,
): void {
  for (const [i, { values }] of columns.entries()) {
    const attribute = attributesByName.get(attributes?.[i] ?? '')
    if (attribute?.kind !== 'storage') continue
    const value = values.find(each => lossOfValue(attribute.type, each) !== undefined)
    if (value !== undefined) print(`  ${attribute.name}: ${lossOfValue(attribute.type, value)}`)
  }
}

function lossOfValue(type: Parameters<typeof lossIn>[0], value: unknown): string | undefined {
  try {
    return value === null || value === undefined ? undefined : lossIn(type, cellText(value))
  } catch {
    // Not a value of the type, which the load says.
    return undefined
  }
}

/** `3 rows read: 2 inserted, 1 rejected` */
export function describeSummary(
  { read, inserted, updated, skipped, rejected, later }: LoadSummary,
  isTrial = false,
): string {
  const parts = [
    `${inserted} ${isTrial ? 'would be inserted' : 'inserted'}`,
    updated > 0 && `${updated} ${isTrial ? 'would be updated' : 'updated'}`,
    skipped > 0 && `${skipped} skipped`,
    rejected > 0 && `${rejected} rejected`,
    later > 0 && `${later} refer to entities that do not exist yet`,
  ]
  return `${quantity(read, 'row')} read: ${parts.filter(Boolean).join(', ')}`
}

interface Given extends ForeignFormat {
  readonly into: string
  readonly relations?: RelationsBy | undefined
  /** Attributes by the names of columns, where the file needs them. */
  readonly columns?: Readonly<Record<string, string | null>> | undefined
  readonly delimiter?: string | undefined
  /** Further options, with their values. */
  readonly more?: readonly string[]
}

/** Delimiters that are recognized without an option. */
const USUAL_DELIMITERS = ',;\t|'

/** Command that loads a corrected file of errors, whose values are as the original file writes them. */
export function correctedCommand(
  command: 'load' | 'import',
  file: string,
  { into, relations = {}, columns = {}, delimiter, decimal, dates, years, currencies = [], nulls, more = [] }: Given,
): string {
  const words = ['npx', 'tesser', command, file, '--into', into]
  for (const [name, attribute] of Object.entries(columns))
    if (name !== '') words.push('--column', `${name}=${attribute ?? ''}`)
  for (const [relation, by] of Object.entries(relations)) words.push('--relation', `${relation}=${by}`)
  if (delimiter !== undefined && !USUAL_DELIMITERS.includes(delimiter)) words.push('--delimiter', delimiter)
  if (decimal) words.push('--decimal', decimal)
  if (dates) words.push('--dates', dates)
  if (years !== undefined) words.push('--years', String(years))
  if (currencies.length > 0) words.push('--currencies', currencies.join(','))
  if (nulls && nulls.length > 0) words.push('--nulls', nulls.join(','))
  return [...words, ...more].map(quoteWord).join(' ')
}

/** Quotes a word for a POSIX shell. */
const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
