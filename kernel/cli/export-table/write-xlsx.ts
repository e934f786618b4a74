import { createWriteStream, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InputError } from '../../../engine/base/input-error.ts'
import { clockText } from '../../../engine/base/time/write-clock.ts'
import type { CellValue } from 'hucre/xlsx'
import type { ColumnKind, ExportColumn } from './export-column.ts'
import { dayMs, isoDay, type TableRows } from './table-rows.ts'

/** Maximum rows of a sheet without its header. Source: Excel specifications and limits. */
const MAX_ROWS = 1_048_575
/** Maximum characters of a cell. Source: as above. */
const MAX_TEXT = 32_767
/** Maximum digits of a number in Excel. Source: as above. */
const MAX_DIGITS = 15
/** First day that is written as a date. Before it, Excel counts a day that did not exist, 29 February 1900. */
const FIRST_MS = Date.UTC(1900, 2, 1)
const END_MS = Date.UTC(10_000, 0, 1)

/**
 * Writes an Excel file with one sheet. Numbers with more digits than Excel keeps, and dates that it cannot show, are written as strings.
 * @throws {Error} there are more rows, or longer strings, than a sheet can hold
 */
export async function writeXlsx(path: string, table: TableRows): Promise<void> {
  const { writeXlsxStream } = await loadWriter()
  const columns = table.columns.map(column => {
    const numFmt = formatOf(column)
    return { header: column.name, ...(numFmt !== undefined && { numFmt }) }
  })
  const file = writeXlsxStream(rowsOf(table), { name: table.dataClass.slice(0, 31), columns, freezePane: { rows: 1 } })
  // Opened before anything can fail: a stream would open it later, possibly after it has been removed.
  const output = createWriteStream(path, { fd: openSync(path, 'w', 0o600) })
  await pipeline(Readable.fromWeb(file as never), output)
}

async function loadWriter(): Promise<typeof import('hucre/xlsx')> {
  try {
    return await import('hucre/xlsx')
  } catch (error) {
    throw new InputError('Excel files are written by the optional package hucre: npm install hucre', { cause: error })
  }
}

async function* rowsOf({ columns, parts }: TableRows): AsyncGenerator<CellValue[]> {
  const cells = columns.map(({ kind }) => CELLS[kind])
  let row = 0
  for await (const part of parts) {
    for (const texts of part) {
      if (++row > MAX_ROWS)
        throw new Error(
          `more than ${MAX_ROWS.toLocaleString('en')} entities do not fit into an Excel sheet; export parts of them with --filter, or export Parquet or CSV`,
        )
      yield texts.map((text, i) => {
        if (text === null) return null
        if (text.length > MAX_TEXT)
          throw new Error(
            `"${columns[i]!.name}" of entity ${row} has ${text.length} characters, but an Excel cell holds ${MAX_TEXT}; leave it out with --attributes, or export Parquet or CSV`,
          )
        return cells[i]!(text)
      })
    }
  }
}

/** Characters that XML 1.0 cannot contain, or would change as it does with a carriage return. */
const UNSUITABLE = /(?![\t\n])[\p{Cc}\uFFFE\uFFFF]/gu
/** The beginning of text that would be read as an escaped character, also if the escape of an unsuitable character completes it. */
const LIKE_ESCAPE = /_(?=x[\dA-Fa-f]{4}(?:_|(?![\t\n])[\p{Cc}\uFFFE\uFFFF]))/gu

/** Escapes characters that a cell cannot contain as `_xFFFE_`, as Excel does. Source: ECMA-376, part 1, 22.9.2.19. */
const text = (value: string): string => value.replace(LIKE_ESCAPE, '_x005F_').replace(UNSUITABLE, escapeOf)

const escapeOf = (character: string): string =>
  `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`

/** Greatest number of days that Excel shows. */
const MAX_DAYS = 2_958_465
const DAY_MS = 86_400_000

/** A time of any number of hours; as text if Excel would show it as `####`, in milliseconds if it has fractions of them. */
function time(value: string): CellValue {
  const ms = Number(value)
  if (!Number.isSafeInteger(ms)) return value
  return ms >= 0 && ms <= MAX_DAYS * DAY_MS ? ms / DAY_MS : clockText(ms)
}

const exact = (value: string): CellValue =>
  value.replace(/[-.]/g, '').replace(/^0+/, '').length > MAX_DIGITS ? value : Number(value)

const moment = (ms: number, iso: string): CellValue => (ms >= FIRST_MS && ms < END_MS ? new Date(ms) : iso)

const CELLS: Readonly<Record<ColumnKind, (value: string) => CellValue>> = {
  text,
  bool: value => value === 'true',
  integer: Number,
  long64: exact,
  number: Number,
  decimal: exact,
  date: value => moment(Date.parse(value), value),
  day: value => moment(dayMs(value), isoDay(value)),
  duration: time,
  uuid: text,
  json: text,
  vector: text,
}

function formatOf({ kind, scale }: ExportColumn): string | undefined {
  switch (kind) {
    case 'date':
      return 'yyyy-mm-dd hh:mm:ss.000'
    case 'day':
      return 'yyyy-mm-dd'
    case 'duration':
      return '[h]:mm:ss.000'
    case 'decimal':
      return scale === 0 ? '0' : `0.${'0'.repeat(scale)}`
    default:
      return undefined
  }
}
