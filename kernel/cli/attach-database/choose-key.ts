import { suggestion } from '../../../engine/base/suggestion.ts'
import { isScalar } from '../clone-database/propose-model.ts'
import { type SourceColumn, SourceError, type SourceTable } from '../clone-database/source.ts'

/** Columns that identify the rows of a table. */
export interface KeyChoice {
  readonly columns: readonly SourceColumn[]
  /** True if the database ensures that they are unique and never null. */
  readonly isKept: boolean
}

/**
 * The primary key, or else the smallest set of unique columns that are never null.
 * @param keyText column of `--key`, or several with commas between them
 * @returns undefined if a table has no key, or only a key of bytes or objects
 * @throws {SourceError} there are no such columns
 */
export function chooseKey(table: SourceTable, keyText: string | undefined): KeyChoice | undefined {
  const candidates = keptKeys(table)
  if (keyText === undefined) {
    const [best] = candidates
    return best && { columns: best, isKept: true }
  }
  const columns = namedColumns(table, keyText)
  const isSame = (key: readonly SourceColumn[]): boolean =>
    key.length === columns.length && key.every(column => columns.includes(column))
  return { columns, isKept: candidates.some(isSame) }
}

function keptKeys({ columns, primaryKey, uniques }: SourceTable): SourceColumn[][] {
  const byLength = [...uniques].sort((a, b) => a.length - b.length)
  return [primaryKey, ...byLength].flatMap(names => {
    const key = columns.filter(column => names.includes(column.name) && isScalar(column) && !column.isNullable)
    if (key.length < names.length || key.length === 0) return []
    return [key.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))]
  })
}

function namedColumns({ name: table, columns }: SourceTable, keyText: string): SourceColumn[] {
  const names = columns.map(({ name }) => name)
  // A column name may itself contain a comma.
  return (names.includes(keyText) ? [keyText] : keyText.split(',')).map(name => {
    const column = columns.find(each => each.name === name)
    if (!column)
      throw new SourceError(`--key ${table}=${keyText}: there is no column "${name}"${suggestion(name, names)}`)
    if (isScalar(column)) return column
    throw new SourceError(
      `--key ${table}=${keyText}: ${name} is of the type ${column.declaredType}, which cannot be a key`,
    )
  })
}
