import type { Catalog, DataClass } from '../../engine/catalog/dataclass.ts'
import { readTables } from '../../engine/postgres/tables/read-tables.ts'
import type { RemoteTable } from '../../engine/postgres/sql/remote-table.ts'

/** Types of columns by name: `int4`, `numeric(10,2)`, `mood enum`; with `!` those that are never null. */
export type Columns = Readonly<Record<string, string>>

/** Tables of dataclasses, as a database would describe them. @param columns by dataclass */
export function describedTables(
  { dataClassesByName }: Pick<Catalog, 'dataClassesByName'>,
  columns: Readonly<Record<string, Columns>>,
  hasFold = true,
): Map<DataClass, RemoteTable | readonly string[]> {
  const dataClasses = Object.keys(columns).map(name => dataClassesByName.get(name)!)
  const rows = dataClasses.flatMap(({ name, remote }) =>
    Object.entries(columns[name]!).map(([column, text]) => {
      const [, type, digits, places, rest] = /^(\w+)(?:\((\d+)(?:,(\d+))?\))?(.*)$/.exec(text)!
      const modifier = digits === undefined ? -1 : (Number(digits) << 16) + Number(places ?? 0) + 4
      const flag = (isSet: boolean): string => (isSet ? 't' : 'f')
      return [
        ...[remote!.schema, remote!.table, 'r', column, type!, String(modifier)],
        ...[flag(rest!.includes('!')), flag(rest!.includes('enum')), 'f', 'f', flag(hasFold)],
      ]
    }),
  )
  return readTables(dataClasses, rows)
}
