import { type CatalogColumn, type CatalogTable, placeOf, type PlacesCatalog } from '../database/database-catalog.ts'
import { quoteName } from '../sql/quote.ts'
import { isSameColumn, wideningExpression } from './column-types.ts'
import { type ColumnSpec, MARK, OWN_PREFIX, type TableSpec, textOf } from './table-spec.ts'
import { dropTriggers, triggersOf } from './triggers.ts'

/** Statements that make a table fit its model. */
export interface TablePlan {
  readonly steps: readonly string[]
  /** Reasons why none of the statements may run. */
  readonly problems: readonly string[]
  /** Notes for the log, once the statements have run. */
  readonly notes: readonly string[]
}

/** @param isUsed true for a table that another dataclass uses under its current name */
export function planTable(
  spec: TableSpec,
  state: PlacesCatalog,
  isUsed: (schema: string, table: string) => boolean,
): TablePlan {
  const { schema, table, from, formerTable } = spec
  const existingTable = state.tables.get(placeOf(schema, table))
  if (existingTable) return planChange(spec, existingTable)
  const former = formerTable === undefined || isUsed(schema, formerTable) ? undefined : formerTable
  const oldTable = former === undefined ? undefined : state.tables.get(placeOf(schema, former))
  if (oldTable && isOurs(oldTable)) {
    const plan = planChange(spec, oldTable)
    const rename = `ALTER TABLE ${quoteName(schema, former!)} RENAME TO ${quoteName(table)}`
    return {
      ...plan,
      steps: [rename, ...plan.steps],
      notes: [`${quoteName(schema, former!)} is now ${from}`, ...plan.notes],
    }
  }
  const columns = spec.columns.map(column => definitionOf(column))
  const steps = [
    ...(state.schemas.has(schema) ? [] : [`CREATE SCHEMA IF NOT EXISTS ${quoteName(schema)}`]),
    `CREATE TABLE ${from} (${[...columns, `PRIMARY KEY (${quoteName(spec.key)})`].join(', ')})`,
    // The mark allows the server to change the table from now on.
    `COMMENT ON TABLE ${from} IS ${textOf(MARK)}`,
    ...spec.columns.flatMap(column => sequenceSteps(column, undefined, spec)),
    ...indexSteps(spec, []),
    ...triggersOf(spec),
  ]
  return { steps, problems: [], notes: [`the table ${from} is made`] }
}

/** Foreign keys, whose targets exist by now, and the comment that says that the table fits. */
export function planRelations(spec: TableSpec, state: PlacesCatalog): TablePlan {
  const { schema, table, from, foreignKeys, mark } = spec
  const existingNames = new Set(state.tables.get(placeOf(schema, table))!.foreignKeys.map(({ name }) => name))
  const addSteps = foreignKeys
    .filter(({ name }) => !existingNames.has(name))
    .map(
      ({ name, column, target, onDelete }) =>
        `ALTER TABLE ${from} ADD CONSTRAINT ${quoteName(name)} FOREIGN KEY (${quoteName(column)}) REFERENCES ${quoteName(target.schema, target.table)} (${quoteName(target.key)}) ON DELETE ${onDelete}`,
    )
  return { steps: [...addSteps, `COMMENT ON TABLE ${from} IS ${textOf(mark)}`], problems: [], notes: [] }
}

const indexNames = ({ indexes }: CatalogTable): string[] => indexes.map(({ name }) => name)
const isOurs = ({ comment }: CatalogTable): boolean => comment?.startsWith(MARK) === true

function planChange(spec: TableSpec, state: CatalogTable): TablePlan {
  const { from, key } = spec
  const refuse = (problem: string): TablePlan => ({ steps: [], problems: [problem], notes: [] })
  if (state.kind !== 'r' && state.kind !== 'p') return refuse(`${from} is not a table; leave out "owned" to attach it`)
  if (!isOurs(state)) {
    return refuse(
      `the table ${from} exists, and Tesser has not made it; leave out "owned" to attach it, or have Tesser change it from now on: COMMENT ON TABLE ${from} IS ${textOf(MARK)}`,
    )
  }
  const columns = spec.columns.map(column => new ColumnChange(column, spec, state))
  const keyNow = columns.find(({ name }) => name === key)!.nameNow
  const keyColumns = state.indexes.find(({ isPrimary }) => isPrimary)?.columns ?? []
  if (keyColumns.length !== 1 || keyColumns[0] !== keyNow) {
    return refuse(
      `the primary key of ${from} is (${keyColumns.join(', ')}), and that of its model is ${key}, which a start does not change`,
    )
  }
  const names = new Set(columns.map(({ nameNow }) => nameNow))
  const leftovers = [...state.columns.values()].filter(({ name }) => !names.has(name))
  const notes = [
    ...columns.flatMap(each => each.notes),
    ...leftovers.map(
      ({ name }) => `the column ${quoteName(name)} of ${from} has no attribute any longer, and stays as it is`,
    ),
  ]
  const steps = [
    ...dropTriggers(spec),
    ...dropSteps(spec, state),
    ...columns.flatMap(each => each.renameAndConvert()),
    ...columns.flatMap(each => each.addAndSet()),
    // New rows have no values in these columns.
    ...leftovers.flatMap(({ name, isNullable, initial, identity }) =>
      !isNullable && initial === null && identity === ''
        ? [`ALTER TABLE ${from} ALTER COLUMN ${quoteName(name)} DROP NOT NULL`]
        : [],
    ),
    ...indexSteps(spec, indexNames(state)),
    ...triggersOf(spec),
  ]
  return { steps, problems: columns.flatMap(each => each.problem ?? []), notes }
}

/** Drops indexes and foreign keys that the model no longer wants; they contain no data. */
function dropSteps({ schema, from, indexes, foreignKeys }: TableSpec, state: CatalogTable): string[] {
  const wantedNames = new Set(indexes.map(({ name }) => name))
  const obsoleteNames = indexNames(state).filter(name => name.startsWith(OWN_PREFIX) && !wantedNames.has(name))
  const constraints = state.foreignKeys.filter(({ name, target, onDelete }) => {
    if (!name.startsWith(OWN_PREFIX)) return false
    const foreignKey = foreignKeys.find(each => each.name === name)
    return (
      !foreignKey ||
      foreignKey.onDelete !== onDelete ||
      foreignKey.target.schema !== target.schema ||
      foreignKey.target.table !== target.table
    )
  })
  return [
    ...constraints.map(({ name }) => `ALTER TABLE ${from} DROP CONSTRAINT ${quoteName(name)}`),
    ...obsoleteNames.map(name => `DROP INDEX ${quoteName(schema, name)}`),
  ]
}

const indexSteps = ({ from, indexes }: TableSpec, existingNames: readonly string[]): string[] =>
  indexes
    .filter(({ name }) => !existingNames.includes(name))
    .map(({ name, isUnique, on }) => `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${quoteName(name)} ON ${from} (${on})`)

const definitionOf = ({ name, type, isMandatory, initial, sequence }: ColumnSpec): string =>
  `${quoteName(name)} ${type}${isMandatory ? ' NOT NULL' : ''}${initial !== undefined && !sequence ? ` DEFAULT ${initial}` : ''}`

/** Statements for the sequence that numbers a column. @param existingColumn undefined for a column that is new */
function sequenceSteps(
  { name, type, sequence, initial }: ColumnSpec,
  existingColumn: ExistingColumn | undefined,
  { schema, from }: TableSpec,
): string[] {
  if (!sequence) return []
  const column = quoteName(name)
  const sequenceName = quoteName(schema, sequence)
  return [
    `CREATE SEQUENCE IF NOT EXISTS ${sequenceName} AS ${type} OWNED BY ${from}.${column}`,
    ...(existingColumn ? [`ALTER SEQUENCE ${sequenceName} AS ${type}`] : []),
    ...(existingColumn?.identity ? [`ALTER TABLE ${from} ALTER COLUMN ${column} DROP IDENTITY`] : []),
    ...(existingColumn
      ? [
          `SELECT setval(${textOf(sequenceName)}, greatest(max(${column}), pg_sequence_last_value(${textOf(sequenceName)}))) FROM ${from} HAVING max(${column}) > 0`,
        ]
      : []),
    `ALTER TABLE ${from} ALTER COLUMN ${column} SET DEFAULT ${initial}`,
  ]
}

/** Change of one column of an existing table. */
class ColumnChange {
  readonly name: string
  /** Current name in the table. */
  readonly nameNow: string
  private readonly existingColumn: CatalogColumn | undefined

  constructor(
    private readonly column: ColumnSpec,
    private readonly spec: TableSpec,
    { columns }: CatalogTable,
  ) {
    const { name, former } = column
    this.name = name
    const isRenamed =
      former !== undefined &&
      !columns.has(name) &&
      columns.has(former) &&
      !spec.columns.some(each => each.name === former)
    this.nameNow = isRenamed ? former : name
    this.existingColumn = columns.get(this.nameNow)
  }

  /** Reason why the values of the column cannot be converted to values of the attribute. */
  get problem(): string | undefined {
    const { existingColumn, column, spec } = this
    const columnName = quoteName(column.name)
    if (
      !existingColumn ||
      isSameColumn(existingColumn.sqlType, column.type) ||
      wideningExpression(columnName, existingColumn.sqlType, column.type)
    )
      return undefined
    return `the column ${columnName} of ${spec.from} is of type ${existingColumn.sqlType}, and its attribute needs ${column.type}, which could lose values; change it where they fit: ALTER TABLE ${spec.from} ALTER COLUMN ${columnName} TYPE ${column.type} USING ${columnName}::${column.type}`
  }

  get notes(): string[] {
    const { existingColumn, column, spec, nameNow } = this
    const subject = `the column ${quoteName(column.name)} of ${spec.from}`
    if (!existingColumn) return [`${subject} is added`]
    return [
      ...(nameNow === column.name ? [] : [`${subject} was ${quoteName(nameNow)}`]),
      ...(isSameColumn(existingColumn.sqlType, column.type)
        ? []
        : [`${subject} changes from ${existingColumn.sqlType} to ${column.type}`]),
    ]
  }

  renameAndConvert(): string[] {
    const { existingColumn, column, spec, nameNow } = this
    if (!existingColumn) return []
    const columnName = quoteName(column.name)
    const isConverted = !isSameColumn(existingColumn.sqlType, column.type)
    const alter = `ALTER TABLE ${spec.from} ALTER COLUMN ${columnName}`
    return [
      ...(nameNow === column.name
        ? []
        : [`ALTER TABLE ${spec.from} RENAME COLUMN ${quoteName(nameNow)} TO ${columnName}`]),
      ...(isConverted && existingColumn.initial !== null ? [`${alter} DROP DEFAULT`] : []),
      ...(isConverted
        ? [`${alter} TYPE ${column.type} USING ${wideningExpression(columnName, existingColumn.sqlType, column.type)}`]
        : []),
    ]
  }

  addAndSet(): string[] {
    const { existingColumn, column, spec } = this
    const { name, isMandatory, initial, sequence } = column
    const alter = `ALTER TABLE ${spec.from} ALTER COLUMN ${quoteName(name)}`
    const isKey = name === spec.key
    if (!existingColumn) {
      const later = initial === undefined || !column.isForNewRows ? [] : [`${alter} SET DEFAULT ${initial}`]
      const newColumn = later.length > 0 ? { ...column, initial: undefined } : column
      return [
        `ALTER TABLE ${spec.from} ADD COLUMN ${definitionOf(newColumn)}`,
        ...later,
        ...sequenceSteps(column, NEW, spec),
      ]
    }
    const isFilled = existingColumn.initial !== null && OWN_INITIAL.test(existingColumn.initial)
    return [
      ...(isMandatory && existingColumn.isNullable ? [`${alter} SET NOT NULL`] : []),
      ...(!isMandatory && !existingColumn.isNullable && !isKey ? [`${alter} DROP NOT NULL`] : []),
      ...sequenceSteps(column, existingColumn, spec),
      ...(initial !== undefined && !sequence ? [`${alter} SET DEFAULT ${initial}`] : []),
      ...(initial === undefined && isFilled ? [`${alter} DROP DEFAULT`] : []),
    ]
  }
}

type ExistingColumn = Pick<CatalogColumn, 'identity'>
const NEW: ExistingColumn = { identity: '' }
/** Initial values of columns that a model has requested. */
const OWN_INITIAL = /^(nextval\('.*tesser_.*_number_|gen_random_uuid\(\)$|COALESCE\()/
