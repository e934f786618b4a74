import { createHash } from 'node:crypto'
import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { nameTogether } from '../../catalog/unique-together.ts'
import type { Value } from '../../catalog/value.ts'
import { isScalarType } from '../../catalog/value-type.ts'
import { quoteName } from '../sql/quote.ts'
import { foldCall } from '../sql/fold-sql.ts'
import { columnType, MOMENT } from './column-types.ts'

/** A table as the model of its dataclass requires it. Names in SQL are quoted. */
export interface TableSpec {
  readonly dataClass: DataClass
  readonly schema: string
  readonly table: string
  /** Name of the table with its schema. */
  readonly from: string
  readonly formerTable: string | undefined
  readonly columns: readonly ColumnSpec[]
  /** Column of the primary key. */
  readonly key: string
  readonly indexes: readonly IndexSpec[]
  readonly foreignKeys: readonly ForeignKeySpec[]
  /** Comment of the table once it fits this specification. It begins with {@link MARK}. */
  readonly mark: string
}

export interface ColumnSpec {
  readonly name: string
  readonly former: string | undefined
  readonly type: string
  readonly isMandatory: boolean
  /** SQL of the value of a new row. */
  readonly initial: string | undefined
  /** Rows that exist when the column is added do not get {@link initial}. */
  readonly isForNewRows?: boolean | undefined
  /** Sequence that numbers new rows, without its schema. */
  readonly sequence: string | undefined
}

interface IndexSpec {
  readonly name: string
  /** Attribute of the index, which may represent several: see `DataClass.uniqueTogether`. */
  readonly attribute: StorageAttribute
  readonly isUnique: boolean
  /** SQL of the expression that the index orders. */
  readonly on: string
}

interface ForeignKeySpec {
  readonly name: string
  readonly column: string
  readonly target: { readonly schema: string; readonly table: string; readonly key: string }
  readonly onDelete: 'NO ACTION' | 'SET NULL' | 'CASCADE'
}

/** Start of the comment of every table that Tesser may change. */
export const MARK = 'Tesser'
/** Version that changes whenever the same model results in other statements. */
const VERSION = 1
/** Start of the names of indexes, constraints and triggers that follow the model. Others are left alone. */
export const OWN_PREFIX = 'tesser_'

const ON_DELETE = { restrict: 'NO ACTION', setNull: 'SET NULL', cascade: 'CASCADE' } as const

/** @param hasVectors the database has the type `vector` of pgvector */
export function tableSpec(dataClass: DataClass, hasVectors: boolean): TableSpec {
  const { schema, table, ownedStorage: storage } = dataClass.remote!
  const spec = {
    dataClass,
    schema,
    table,
    from: quoteName(schema, table),
    formerTable: storage!.formerTable,
    columns: columnsOf(dataClass, hasVectors),
    key: columnOf(dataClass.key),
    indexes: indexesOf(dataClass),
    foreignKeys: foreignKeysOf(dataClass),
  }
  return { ...spec, mark: markOf(dataClass) }
}

/** Names the state in which the table of a dataclass fits its model. */
export function markOf(dataClass: DataClass): string {
  const { stamp, timestamp } = dataClass.remote!
  // The existence of a separate type for vectors does not depend on the model.
  const columns = columnsOf(dataClass, true)
  const indexes = indexesOf(dataClass).map(({ name, on }) => [name, on])
  const content = [VERSION, stamp, timestamp, columns, columnOf(dataClass.key), indexes, foreignKeysOf(dataClass)]
  return `${MARK} ${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}`
}

/** Attributes of unique indexes, by index name. */
export const uniqueIndexes = (dataClass: DataClass): ReadonlyMap<string, StorageAttribute> =>
  new Map(indexesOf(dataClass).flatMap(each => (each.isUnique ? [[each.name, each.attribute]] : [])))

const columnOf = (attribute: StorageAttribute): string => attribute.dataClass.remote!.columns.get(attribute)![0]!

function columnsOf(dataClass: DataClass, hasVectors: boolean): ColumnSpec[] {
  const { schema, table, columns, stamp, timestamp, ownedStorage: storage } = dataClass.remote!
  const specs = new Map<string, ColumnSpec>()
  for (const [attribute, [name]] of columns) {
    const sequence = attribute.autoFill === 'increment' ? ownName(table, name!, 'number') : undefined
    const type = columnType(attribute, hasVectors)
    specs.set(name!, {
      name: name!,
      former: storage!.formerColumns.get(name!),
      type,
      isMandatory: attribute.mandatory,
      initial: sequence ? `nextval(${textOf(quoteName(schema, sequence))})` : initialOf(attribute, type),
      isForNewRows: attribute.autoFill === 'now' || undefined,
      sequence,
    })
  }
  const add = (name: string, type: string, initial: string): void => {
    const spec = specs.get(name) ?? { name, former: undefined, type, sequence: undefined }
    specs.set(name, { ...spec, isMandatory: true, initial, isForNewRows: undefined })
  }
  add(stamp!, 'integer', '1')
  add(timestamp!, MOMENT, 'now()')
  return [...specs.values()]
}

/**
 * SQL of the initial value of a row that another program inserts. `coalesce` does not change the value, but marks it as one that a model
 * has requested.
 */
function initialOf(attribute: StorageAttribute, type: string): string | undefined {
  const { default: value, autoFill, simpleDate } = attribute
  if (value !== undefined) return `coalesce(${textOf(sqlText(attribute, value))}::${type})`
  if (autoFill === 'now') return `coalesce(${simpleDate ? "(now() AT TIME ZONE 'UTC')::date" : 'now()'})`
  if (autoFill !== 'uuid') return undefined
  return type === 'uuid' ? 'gen_random_uuid()' : "coalesce(upper(replace(gen_random_uuid()::text, '-', '')))"
}

const sqlText = (attribute: StorageAttribute, value: Value): string =>
  isScalarType(attribute.type)
    ? TYPES[attribute.type].keyText(value, attribute, { dateOnlyFormat: 'iso' })
    : JSON.stringify(value)

function indexesOf({ attributes, key, remote, uniqueTogether }: DataClass): IndexSpec[] {
  const relations = attributes.filter(each => each.kind === 'relatedEntity')
  const together = uniqueTogether.map((attribute): IndexSpec => {
    const columns = attribute.together!.map(columnOf)
    const expressions = attribute.together!.map((member, i) => {
      const column = quoteName(columns[i]!)
      return member.type === 'string' ? foldCall(column) : column
    })
    // Must differ from the name for any other list or column: underscores in column names make joined names ambiguous.
    const name = ownName(remote!.table, nameTogether(columns), 'unique')
    return { name, attribute, isUnique: true, on: expressions.join(', ') }
  })
  const single = attributes.flatMap(attribute => {
    if (attribute.kind !== 'storage' || !attribute.indexed || !isScalarType(attribute.type)) return []
    const column = columnOf(attribute)
    const index = (purpose: string, isUnique: boolean, on: string): IndexSpec => ({
      name: ownName(remote!.table, column, purpose),
      ...{ attribute, isUnique, on },
    })
    const isText = attribute.type === 'string'
    // Keys and foreign keys are compared without folding; the primary key already has an index.
    const isForeignKey = relations.some(({ foreignKey }) => foreignKey === attribute)
    const asIs =
      attribute !== key && (isForeignKey || !isText)
        ? [index(attribute.unique && !isText ? 'unique' : 'index', attribute.unique && !isText, quoteName(column))]
        : []
    const foldIndexes = isText
      ? [index(attribute.unique ? 'unique' : 'fold', attribute.unique, foldCall(quoteName(column)))]
      : []
    return [...asIs, ...foldIndexes]
  })
  return [...single, ...together]
}

/** Relations to dataclasses elsewhere are not checked by this database. */
function foreignKeysOf({ attributes, remote }: DataClass): ForeignKeySpec[] {
  return attributes
    .filter((each): each is RelatedEntityAttribute => each.kind === 'relatedEntity')
    .flatMap(({ foreignKey, target, onDelete }) => {
      const { remote: other } = target
      if (!other?.ownedStorage || other.connection !== remote!.connection) return []
      const column = columnOf(foreignKey)
      return {
        name: ownName(remote!.table, column, 'relation'),
        column,
        target: { schema: other.schema, table: other.table, key: columnOf(target.key) },
        onDelete: ON_DELETE[onDelete],
      }
    })
}

const MAX_NAME_BYTES = 63

/** Name of an object that belongs to a column. Long names are truncated and get a digest that distinguishes them. */
function ownName(table: string, column: string, purpose: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([table, column, purpose]))
    .digest('hex')
    .slice(0, 6)
  const end = `_${purpose}_${digest}`
  const start = [...`${OWN_PREFIX}${table}_${column}`]
  while (Buffer.byteLength(start.join('') + end) > MAX_NAME_BYTES) start.pop()
  return start.join('') + end
}

/** SQL of a text. */
export const textOf = (text: string): string => `'${text.replaceAll("'", "''")}'`
