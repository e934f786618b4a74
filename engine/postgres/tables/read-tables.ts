import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { type CatalogTable, placeOf, placesStatement, readPlaces } from '../database/database-catalog.ts'
import { markOf, uniqueIndexes } from '../owned/table-spec.ts'
import { quoteName } from '../sql/quote.ts'
import type { RemoteColumn, RemoteTable, WrittenColumn } from '../sql/remote-table.ts'
import { columnForm } from '../sql/choose-form.ts'
import type { ColumnForm } from '../sql/column-form.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** Kinds of relations that have rows. */
const HAVE_ROWS = ['r', 'p', 'v', 'm', 'f']

/** Statement that describes the tables of dataclasses. {@link readTables} takes its rows. */
export const tablesStatement = (dataClasses: readonly DataClass[]): Statement => ({
  ...placesStatement(dataClasses.map(({ remote }) => remote!)),
  isDescription: true,
})

/** The tables of dataclasses; for a table that does not fit its model, the reasons. */
export function readTables(
  dataClasses: readonly DataClass[],
  rows: readonly Cells[],
): Map<DataClass, RemoteTable | readonly string[]> {
  const { tables, hasFold } = readPlaces(rows)
  const classes = new Map(dataClasses.map(each => [placeOf(each.remote!.schema, each.remote!.table), each]))
  return new Map(
    dataClasses.map(dataClass => {
      const catalogTable = tables.get(placeOf(dataClass.remote!.schema, dataClass.remote!.table))
      const table = catalogTable && HAVE_ROWS.includes(catalogTable.kind) ? catalogTable : undefined
      return [dataClass, tableOf(dataClass, table, { hasFold, classes })]
    }),
  )
}

/** True for a key and for a foreign key. */
const isIdentity = ({ key, attributes }: DataClass, attribute: StorageAttribute): boolean =>
  attribute === key || attributes.some(each => each.kind === 'relatedEntity' && each.foreignKey === attribute)

const cutKey = ({ name, type }: StorageAttribute, column: RemoteColumn): string =>
  `the column ${quoteName(column.name)} is of type ${column.sqlType}; ${name}, a ${type}, would show several of its values as one key: a string holds them all`

interface Surroundings {
  readonly hasFold: boolean
  /** Dataclasses of the connection by the places of their tables. */
  readonly classes: ReadonlyMap<string, DataClass>
}

function tableOf(
  dataClass: DataClass,
  catalogTable: CatalogTable | undefined,
  { hasFold, classes }: Surroundings,
): RemoteTable | readonly string[] {
  const { schema, table, stamp, timestamp, ownedStorage: storage, columns: columnNames } = dataClass.remote!
  const from = quoteName(schema, table)
  if (!catalogTable && storage) return [`${from} is not there yet; if it cannot be made, the log has the reason`]
  if (!catalogTable) return [`there is no table or view ${from}, or this role may not see it`]
  if (storage && catalogTable.comment !== markOf(dataClass))
    return [`${from} is not as the model of this server wants it; if it cannot be made so, the log has the reason`]
  const problems: string[] = []
  const columnOf = (name: string): RemoteColumn | undefined => {
    const match = catalogTable.columns.get(name)
    if (!match) problems.push(`${from} has no column ${quoteName(name)}`)
    return match
  }
  const columns = new Map<StorageAttribute, readonly RemoteColumn[]>()
  const forms = new Map<StorageAttribute, ColumnForm>()
  for (const [attribute, names] of columnNames) {
    const attributeColumns = names.map(columnOf)
    if (!attributeColumns.every(column => column !== undefined)) continue
    const form = columnForm(attribute, attributeColumns)
    if (typeof form === 'string') problems.push(form)
    else if (form.isCut && isIdentity(dataClass, attribute)) problems.push(cutKey(attribute, attributeColumns[0]!))
    else {
      columns.set(attribute, attributeColumns)
      forms.set(attribute, form)
    }
  }
  const check = (name: string | undefined, types: RegExp, requirement: string): void => {
    const checkedColumn = name === undefined ? undefined : columnOf(name)
    if (checkedColumn && !types.test(checkedColumn.type))
      problems.push(`the column ${quoteName(checkedColumn.name)} is of type ${checkedColumn.type}; ${requirement}`)
  }
  check(stamp, /^(int[248]|numeric)$/, 'a stamp is a whole number')
  check(timestamp, /^(timestamp|timestamptz|date)$/, 'the time of a change is a timestamp')
  if (problems.length > 0) return problems
  const hasRows = catalogTable.kind === 'r' || catalogTable.kind === 'p' || catalogTable.kind === 'm'
  return {
    dataClass,
    from,
    columns,
    forms,
    stamp: stamp !== undefined ? stampOf(quoteName(stamp)) : hasRows ? alias => `${alias}.xmin::text::int8` : () => '1',
    hasStamps: stamp !== undefined || hasRows,
    isReadAgain: stamp === undefined && catalogTable.kind === 'p',
    timestamp: timestamp === undefined ? undefined : quoteName(timestamp),
    writtenColumns: writtenColumns(catalogTable, columns, forms),
    isOrdinary: catalogTable.keepsCounts,
    hasRules: catalogTable.hasRules,
    hasFold,
    uniqueIndexes: storage ? uniqueIndexes(dataClass) : undefined,
    uniqueRules: storage ? new Map() : uniqueRules(catalogTable),
    references: new Map(
      catalogTable.foreignKeys.map(({ name, columns, target }) => [
        name,
        { columns, target: classes.get(placeOf(target.schema, target.table)) },
      ]),
    ),
    checks: new Map(catalogTable.checks.map(({ name, columns }) => [name, columns])),
  }
}

const uniqueRules = ({ indexes }: CatalogTable): RemoteTable['uniqueRules'] =>
  new Map(
    indexes.flatMap(({ name, isUnique, hasCondition, columns, inputs }) => {
      const namedColumns = columns.filter(column => column !== null)
      const hasExpression = namedColumns.length < columns.length
      const ruleColumns = hasExpression ? [...new Set([...namedColumns, ...inputs])] : namedColumns
      return isUnique ? [[name, { columns: ruleColumns, isPlain: !hasCondition && !hasExpression }]] : []
    }),
  )

/** SQL of a stamp, which has 32 bits. A row without a stamp has the first one. */
const stampOf =
  (name: string) =>
  (alias: string): string =>
    `(coalesce(${alias}.${name}, 1)::int8 & 4294967295)`

function writtenColumns(
  catalogTable: CatalogTable,
  columns: RemoteTable['columns'],
  forms: RemoteTable['forms'],
): RemoteTable['writtenColumns'] {
  const columnsByName = new Map<string, WrittenColumn>()
  for (const { name, sqlType } of catalogTable.columns.values())
    columnsByName.set(name, { type: sqlType, value: sql => sql })
  for (const [attribute, [column]] of columns) {
    const { convert } = forms.get(attribute)!
    if (convert) columnsByName.set(column!.name, { type: 'text', value: convert })
  }
  return columnsByName
}
