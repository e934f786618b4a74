import { type CatalogColumn, type CatalogTable, placeOf, type PlacesCatalog } from '../database/database-catalog.ts'
import { quoteName } from '../sql/quote.ts'
import { isSameColumn, widened } from './column-types.ts'
import { type ColumnSpec, MARK, OWN_PREFIX, type TableSpec, textOf } from './table-spec.ts'
import { dropTriggers, triggersOf } from './triggers.ts'

/** Statements that make a table fit its model. */
export interface TablePlan {
  readonly steps: readonly string[]
  /** Reasons why none of the statements may run. */
  readonly problems: readonly string[]
  /** For the log, once the statements have run. */
  readonly notes: readonly string[]
}

/** @param isUsed true for a table that is that of another dataclass, whose name is not a former one */
export function planTable(
  spec: TableSpec,
  state: PlacesCatalog,
  isUsed: (schema: string, table: string) => boolean,
): TablePlan {
  const { schema, table, from, formerTable } = spec
  const found = state.tables.get(placeOf(schema, table))
  if (found) return planChange(spec, found)
  const former = formerTable === undefined || isUsed(schema, formerTable) ? undefined : formerTable
  const renamed = former === undefined ? undefined : state.tables.get(placeOf(schema, former))
  if (renamed && isOurs(renamed)) {
    const plan = planChange(spec, renamed)
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
    // From here on it may be changed.
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
  const existing = new Set(state.tables.get(placeOf(schema, table))!.foreignKeys.map(({ name }) => name))
  const added = foreignKeys
    .filter(({ name }) => !existing.has(name))
    .map(
      ({ name, column, target, onDelete }) =>
        `ALTER TABLE ${from} ADD CONSTRAINT ${quoteName(name)} FOREIGN KEY (${quoteName(column)}) REFERENCES ${quoteName(target.schema, target.table)} (${quoteName(target.key)}) ON DELETE ${onDelete}`,
    )
  return { steps: [...added, `COMMENT ON TABLE ${from} IS ${textOf(mark)}`], problems: [], notes: [] }
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
  const left = [...state.columns.values()].filter(({ name }) => !names.has(name))
  const notes = [
    ...columns.flatMap(each => each.notes),
    ...left.map(
      ({ name }) => `the column ${quoteName(name)} of ${from} has no attribute any longer, and stays as it is`,
    ),
  ]
  const steps = [
    ...dropTriggers(spec),
    ...dropSteps(spec, state),
    ...columns.flatMap(each => each.renameAndConvert()),
    ...columns.flatMap(each => each.addAndSet()),
    // New rows have no values there.
    ...left.flatMap(({ name, isNullable, initial, identity }) =>
      !isNullable && initial === null && identity === ''
        ? [`ALTER TABLE ${from} ALTER COLUMN ${quoteName(name)} DROP NOT NULL`]
        : [],
    ),
    ...indexSteps(spec, indexNames(state)),
    ...triggersOf(spec),
  ]
  return { steps, problems: columns.flatMap(each => each.problem ?? []), notes }
}

/** Drops what the model does not want now; nothing of it is data. */
function dropSteps({ schema, from, indexes, foreignKeys }: TableSpec, state: CatalogTable): string[] {
  const wanted = new Set(indexes.map(({ name }) => name))
  const dropped = indexNames(state).filter(name => name.startsWith(OWN_PREFIX) && !wanted.has(name))
  const constraints = state.foreignKeys.filter(({ name, target, onDelete }) => {
    if (!name.startsWith(OWN_PREFIX)) return false
    const own = foreignKeys.find(each => each.name === name)
    return !own || own.onDelete !== onDelete || own.target.schema !== target.schema || own.target.table !== target.table
  })
  return [
    ...constraints.map(({ name }) => `ALTER TABLE ${from} DROP CONSTRAINT ${quoteName(name)}`),
    ...dropped.map(name => `DROP INDEX ${quoteName(schema, name)}`),
  ]
}

const indexSteps = ({ from, indexes }: TableSpec, existing: readonly string[]): string[] =>
  indexes
    .filter(({ name }) => !existing.includes(name))
    .map(({ name, isUnique, on }) => `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${quoteName(name)} ON ${from} (${on})`)

const definitionOf = ({ name, type, isMandatory, initial, sequence }: ColumnSpec): string =>
  `${quoteName(name)} ${type}${isMandatory ? ' NOT NULL' : ''}${initial !== undefined && !sequence ? ` DEFAULT ${initial}` : ''}`

/** Statements for the sequence that numbers a column. @param existing undefined for a column that is new */
function sequenceSteps(
  { name, type, sequence, initial }: ColumnSpec,
  existing: ExistingColumn | undefined,
  { schema, from }: TableSpec,
): string[] {
  if (!sequence) return []
  const column = quoteName(name)
  const own = quoteName(schema, sequence)
  return [
    `CREATE SEQUENCE IF NOT EXISTS ${own} AS ${type} OWNED BY ${from}.${column}`,
    ...(existing ? [`ALTER SEQUENCE ${own} AS ${type}`] : []),
    ...(existing?.identity ? [`ALTER TABLE ${from} ALTER COLUMN ${column} DROP IDENTITY`] : []),
    ...(existing
      ? [
          `SELECT setval(${textOf(own)}, greatest(max(${column}), pg_sequence_last_value(${textOf(own)}))) FROM ${from} HAVING max(${column}) > 0`,
        ]
      : []),
    `ALTER TABLE ${from} ALTER COLUMN ${column} SET DEFAULT ${initial}`,
  ]
}

/** Change of one column of an existing table. */
class ColumnChange {
  readonly name: string
  /** Name in the table as it is. */
  readonly nameNow: string
  private readonly existing: CatalogColumn | undefined

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
    this.existing = columns.get(this.nameNow)
  }

  /** Why the values of the column cannot become those of the attribute. */
  get problem(): string | undefined {
    const { existing, column, spec } = this
    const own = quoteName(column.name)
    if (!existing || isSameColumn(existing.sqlType, column.type) || widened(own, existing.sqlType, column.type))
      return undefined
    return `the column ${own} of ${spec.from} is of type ${existing.sqlType}, and its attribute needs ${column.type}, which could lose values; change it where they fit: ALTER TABLE ${spec.from} ALTER COLUMN ${own} TYPE ${column.type} USING ${own}::${column.type}`
  }

  get notes(): string[] {
    const { existing, column, spec, nameNow } = this
    const own = `the column ${quoteName(column.name)} of ${spec.from}`
    if (!existing) return [`${own} is added`]
    return [
      ...(nameNow === column.name ? [] : [`${own} was ${quoteName(nameNow)}`]),
      ...(isSameColumn(existing.sqlType, column.type)
        ? []
        : [`${own} changes from ${existing.sqlType} to ${column.type}`]),
    ]
  }

  renameAndConvert(): string[] {
    const { existing, column, spec, nameNow } = this
    if (!existing) return []
    const own = quoteName(column.name)
    const isConverted = !isSameColumn(existing.sqlType, column.type)
    const alter = `ALTER TABLE ${spec.from} ALTER COLUMN ${own}`
    return [
      ...(nameNow === column.name ? [] : [`ALTER TABLE ${spec.from} RENAME COLUMN ${quoteName(nameNow)} TO ${own}`]),
      ...(isConverted && existing.initial !== null ? [`${alter} DROP DEFAULT`] : []),
      ...(isConverted ? [`${alter} TYPE ${column.type} USING ${widened(own, existing.sqlType, column.type)}`] : []),
    ]
  }

  addAndSet(): string[] {
    const { existing, column, spec } = this
    const { name, isMandatory, initial, sequence } = column
    const alter = `ALTER TABLE ${spec.from} ALTER COLUMN ${quoteName(name)}`
    const isKey = name === spec.key
    if (!existing) {
      const later = initial === undefined || !column.isForNewRows ? [] : [`${alter} SET DEFAULT ${initial}`]
      const added = later.length > 0 ? { ...column, initial: undefined } : column
      return [
        `ALTER TABLE ${spec.from} ADD COLUMN ${definitionOf(added)}`,
        ...later,
        ...sequenceSteps(column, NEW, spec),
      ]
    }
    const isFilled = existing.initial !== null && OWN_INITIAL.test(existing.initial)
    return [
      ...(isMandatory && existing.isNullable ? [`${alter} SET NOT NULL`] : []),
      ...(!isMandatory && !existing.isNullable && !isKey ? [`${alter} DROP NOT NULL`] : []),
      ...sequenceSteps(column, existing, spec),
      ...(initial !== undefined && !sequence ? [`${alter} SET DEFAULT ${initial}`] : []),
      ...(initial === undefined && isFilled ? [`${alter} DROP DEFAULT`] : []),
    ]
  }
}

type ExistingColumn = Pick<CatalogColumn, 'identity'>
const NEW: ExistingColumn = { identity: '' }
/** Values of new rows that a model has asked for. */
const OWN_INITIAL = /^(nextval\('.*tesser_.*_number_|gen_random_uuid\(\)$|COALESCE\()/
