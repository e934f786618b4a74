import type { AttributeProposal, SourceColumn, SourceTable } from '../clone-database/source.ts'
import type { KeyChoice } from './choose-key.ts'
import type { Notes } from './notes.ts'

/**
 * Returns a table with types for any value that its columns can ever have: its rows are not read, and later rows may differ. Notes of
 * columns are moved to `notes`.
 * @param numeric type for exact numbers of any number of digits; a number of double precision by default
 */
export function withAttachedTypes(
  table: SourceTable,
  key: KeyChoice,
  numeric: AttributeProposal | undefined,
  notes: Notes,
): SourceTable {
  const foreignKeys = table.foreignKeys.filter(({ columns }) => columns.length === 1).map(({ columns }) => columns[0])
  const [only, more] = key.columns
  const columns = table.columns.map(column => {
    const isIdentity = (column === only && !more) || foreignKeys.includes(column.name)
    const { note, ...typed } = isIdentity ? exact(column) : general(column, numeric)
    if (note) notes.add(`${table.name}.${column.name}`, note)
    return typed
  })
  return { ...table, columns }
}

/** Gives a key or foreign key a type that does not round it, so that two different values never become equal. */
function exact(column: SourceColumn): SourceColumn {
  const { type, simpleDate } = column.attribute
  const isRounded = column.generalType || type === 'duration' || (type === 'date' && !simpleDate)
  if (!isRounded) return column
  const note = `is a string, since the type of ${column.declaredType} would round it, and it identifies rows`
  return { ...column, attribute: { type: 'string' }, note }
}

function general({ note, ...column }: SourceColumn, numeric: AttributeProposal | undefined): SourceColumn {
  const { generalType } = column
  if (!generalType) return { ...column, ...(note && { note }) }
  return numeric && generalType.attribute.type === 'number'
    ? { ...column, attribute: numeric }
    : { ...column, ...generalType }
}
