import type { Catalog, DataClass } from '../../../engine/catalog/dataclass.ts'
import { readTables } from '../../../engine/postgres/tables/read-tables.ts'
import type { RemoteTable } from '../../../engine/postgres/sql/remote-table.ts'

/** Types of columns by name: `int4`, `numeric(10,2)`, `mood enum`; with `!` those that are never null. */
export type Columns = Readonly<Record<string, string>>

/** Tables of dataclasses, as a database would describe them. @param columns by dataclass */
export function describedTables(
  { dataClassesByName }: Pick<Catalog, 'dataClassesByName'>,
  columns: Readonly<Record<string, Columns>>,
  hasFold = true,
): Map<DataClass, RemoteTable | readonly string[]> {
  const dataClasses = Object.keys(columns).map(name => dataClassesByName.get(name)!)
  const rows = dataClasses.map(({ name, remote }) => {
    const described = Object.entries(columns[name]!).map(([column, text]) => {
      const [, type, digits, places, rest] = /^(\w+)(?:\((\d+)(?:,(\d+))?\))?(.*)$/.exec(text)!
      const modifier = digits === undefined ? -1 : (Number(digits) << 16) + Number(places ?? 0) + 4
      const isNullable = !rest!.includes('!')
      return {
        name: column,
        type,
        modifier,
        isNullable,
        labels: rest!.includes('enum') ? ['sad', 'happy'] : null,
        hasDefault: false,
        isGenerated: false,
      }
    })
    const { schema, table } = remote!
    const description = JSON.stringify({
      schema,
      name: table,
      kind: 'r',
      comment: null,
      columns: described,
      checks: [],
      indexes: [],
      foreignKeys: [],
    })
    return [schema, table, description, 't', 'f', hasFold ? 't' : 'f', 'f']
  })
  return readTables(dataClasses, rows)
}
