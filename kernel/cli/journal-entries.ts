import { isJsonObject } from '../../engine/base/json-object.ts'
import type { InterruptedLoad, RowFormat, SettledRows } from '../../engine/command-line.ts'

/** A line of the journal of a load, with one group of these properties. */
export interface Entry extends Partial<SettledRows>, Pick<RowFormat, 'proposed'> {
  /** Written with settled rows: size of the error file, including those of the rows that were not saved. */
  readonly errorBytes?: number
  /** Identifies a request, before it is sent. */
  readonly id?: string
  /** Positions of the request's rows, as ranges: first and last. */
  readonly rows?: readonly (readonly [number, number])[]
  /** Outcome of the last request: indexes of its rows that were not saved. */
  readonly left?: readonly number[]
}

/** A request whose outcome is not known. */
interface SentRequest {
  readonly id: string
  /** Positions of its rows. */
  readonly rows: readonly number[]
}

/** Rows that an interrupted load has completed. */
export interface Unsettled extends InterruptedLoad {
  /** See {@link RowFormat}. */
  proposed: RowFormat['proposed']
  readonly savedRows: Set<number>
  readonly uncertain: Set<number>
  /** Size of the error file when the last rows were settled; rows after it are read again. */
  errorBytes: number
  /** The last of these requests, if it was the last request of the load. */
  lastRequest: SentRequest | undefined
  /** Requests from the last one that saved rows; all if none is known to have saved any. */
  readonly lastIds: ReadonlySet<string>
  /** True if some request is known to have saved rows. */
  readonly hasSaved: boolean
}

/** Maximum number of rows in a request. A load sends fewer. */
const MAX_ROWS = 1_000_000

/**
 * @param lines of a journal, after its head
 * @throws {Error} a line is damaged: without it, rows could be loaded twice, or not at all
 */
export function readUnsettled(lines: readonly string[]): Unsettled {
  let position = 0
  let errorBytes = 0
  const keptRows = new Set<number>()
  const savedRows = new Set<number>()
  const uncertain = new Set<number>()
  const lastIds = new Set<string>()
  let hasSaved = false
  let lastRequest: SentRequest | undefined
  let proposals: RowFormat['proposed']
  for (const [index, text] of lines.entries()) {
    const entry = readEntry(text, index === lines.length - 1)
    // The head is the first line.
    if (!entry) throw new Error(`line ${index + 2} is damaged`)
    proposals ??= entry.proposed
    if (entry.id !== undefined) {
      lastRequest = { id: entry.id, rows: positions(entry.rows!) }
      lastIds.add(entry.id)
      for (const row of lastRequest.rows) uncertain.add(row)
    } else if (entry.left) {
      const leftIndexes = new Set(entry.left)
      if (lastRequest && leftIndexes.size < lastRequest.rows.length) {
        hasSaved = true
        lastIds.clear()
        lastIds.add(lastRequest.id)
      }
      lastRequest?.rows.forEach((row, index) => {
        uncertain.delete(row)
        if (!leftIndexes.has(index)) savedRows.add(row)
      })
      lastRequest = undefined
    } else if (entry.position !== undefined) {
      position = Math.max(position, entry.position)
      errorBytes = entry.errorBytes!
      for (const each of entry.kept!) keptRows.add(each)
      for (const each of entry.tried!) keptRows.delete(each)
      for (const rows of [savedRows, uncertain]) {
        for (const row of rows) if (row < position && !keptRows.has(row)) rows.delete(row)
      }
    }
  }
  return {
    position,
    kept: keptRows,
    savedRows,
    uncertain,
    errorBytes,
    lastRequest,
    proposed: proposals,
    lastIds,
    hasSaved,
  }
}

/** @returns undefined for a damaged line */
function readEntry(text: string, isLast: boolean): Entry | undefined {
  const value = parse(text)
  // The process may have ended while writing a line; the line of a complete entry ends with a bracket.
  if (value === undefined) return isLast || !text.endsWith('}') ? {} : undefined
  return isEntry(value) ? value : undefined
}

function isEntry(value: unknown): value is Entry {
  if (!isJsonObject(value)) return false
  const { id, rows, left, position, errorBytes, kept, tried, proposed } = value as Record<keyof Entry, unknown>
  if (id !== undefined) return typeof id === 'string' && isRanges(rows)
  if (left !== undefined) return isCounts(left)
  if (position !== undefined) return [position, errorBytes].every(isCount) && isCounts(kept) && isCounts(tried)
  return isJsonObject(proposed) && Object.values(proposed).every(isJsonObject)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isCounts = (value: unknown): boolean => Array.isArray(value) && value.every(isCount)

function isRanges(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  let count = 0
  for (const range of value as unknown[]) {
    if (!(isCounts(range) && (range as unknown[]).length === 2)) return false
    const [first, last] = range as [number, number]
    count += last - first + 1
    if (first > last || count > MAX_ROWS) return false
  }
  return true
}

const positions = (ranges: NonNullable<Entry['rows']>): number[] =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))

/** @returns undefined for a text that is not JSON */
export function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
