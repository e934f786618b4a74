/** Rows that are sent to the server in batches. */
import { objectOf } from '../entity/json-text.ts'

export interface SentRow {
  /** Number of the row in the table, starting at 0. */
  readonly index: number
  /** Values as JSON, by attribute. */
  readonly values: ReadonlyMap<string, string>
}

export interface RowFault {
  readonly index: number
  readonly message: string
}

interface ProtocolFault {
  readonly message: string
  readonly errCode: number
}

interface Element {
  readonly __KEY?: string
  readonly __ERROR?: readonly ProtocolFault[]
  /** Position in the body, in answers that list only failures. */
  readonly __INDEX?: number
}

/** Errors that only follow from others: "cannot be saved". */
const CONSEQUENCES: ReadonlySet<number> = new Set([1046, 1517, 1534])

/** The rows of a batch that failed, with the reasons. */
export function faultsIn(answer: unknown, batch: readonly SentRow[]): readonly RowFault[] {
  const elements = (answer as { __ENTITIES?: readonly Element[] } | undefined)?.__ENTITIES ?? []
  return elements.flatMap(({ __ERROR, __INDEX }, at) => {
    const row = batch[__INDEX ?? at]
    return row && __ERROR ? [{ index: row.index, message: reasonOf(__ERROR) }] : []
  })
}

/** Keys of the entities that a save has created. */
export function createdIn(answer: unknown, isUpdate: (at: number) => boolean): readonly string[] {
  const elements = (answer as { __ENTITIES?: readonly Element[] } | undefined)?.__ENTITIES ?? []
  return elements.flatMap(({ __KEY, __ERROR, __INDEX }, at) =>
    __KEY === undefined || __ERROR || isUpdate(__INDEX ?? at) ? [] : [__KEY],
  )
}

function reasonOf(faults: readonly ProtocolFault[]): string {
  const reasons = faults.filter(({ errCode }) => !CONSEQUENCES.has(errCode))
  return (reasons.length > 0 ? reasons : faults).map(({ message }) => message).join('; ')
}

const ROWS_AT_ONCE = 200
const CHARACTERS_AT_ONCE = 400_000

/** Splits rows into batches of bounded size. */
export function* batchesOf(rows: Iterable<SentRow>): Generator<readonly SentRow[]> {
  let batch: SentRow[] = []
  let characters = 0
  for (const row of rows) {
    const size = objectOf(row.values).length
    if (batch.length > 0 && (batch.length >= ROWS_AT_ONCE || characters + size > CHARACTERS_AT_ONCE)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(row)
    characters += size
  }
  if (batch.length > 0) yield batch
}
