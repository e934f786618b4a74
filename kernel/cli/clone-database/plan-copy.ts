import { createHash } from 'node:crypto'
import { suggestion } from '../../../engine/base/suggestion.ts'
import { dayOf, lossOf, refuseLoss } from './cells.ts'
import { orderOf } from './order.ts'
import type { DraftAttribute, DraftModel } from '../draft-model.ts'
import { edgesOf } from './propose-model.ts'
import type { Cell, ReadCell, SourceColumn, SourceTable, SqlSource, StreamedColumn } from './source.ts'

/** A value that is read for an attribute. */
export interface AttributeCopy extends StreamedColumn {
  readonly name: string
  /** SQL of the value. */
  readonly sql: string
  readonly read: ReadCell
  /** Set if a value can lose something, which is reported. */
  readonly loss?: ReturnType<typeof lossOf>
}

/** How the rows of a table become entities. */
export interface TableCopy {
  readonly dataClass: string
  readonly table: SourceTable
  readonly key: string
  readonly attributes: readonly AttributeCopy[]
  /** Foreign keys that are saved after all entities. */
  readonly deferred: readonly AttributeCopy[]
  /** Columns from which the key is derived, see {@link derivedKey}; undefined if the key is one of the attributes, or new. */
  readonly keyParts: readonly (StreamedColumn & { readonly sql: string })[] | undefined
  /** SQL of an integer by which rows are read in order, so that reading can continue after any of them. */
  readonly orderedBy: string | undefined
  /** True if the key is a row number of the source that does not appear in the row's values. */
  readonly isNumbered: boolean
  /** True if rows have no identity, so that rows saved by an interrupted copy cannot be recognised. */
  readonly isAnonymous: boolean
}

const INTEGER = /^(byte|word|long|long64)$/

/**
 * Matches a model with the tables of a source.
 * @returns copies in the order in which they can be made
 * @throws {Error} with each attribute that has no column
 */
export function planCopy(model: DraftModel, tables: readonly SourceTable[], source: SqlSource): TableCopy[] {
  const problems: string[] = []
  const byName = new Map(tables.map(table => [table.name, table]))
  const names = Object.keys(model.dataClasses)
  const edges = names.flatMap(name => edgesOf(name, model.dataClasses[name]!))
  const { order, deferred } = orderOf(names, edges)
  for (const { from, foreignKey, isMandatory } of deferred) {
    if (isMandatory)
      problems.push(`${from}.${foreignKey} is part of a circle of relations, so it cannot be mandatory or a key`)
  }
  const copies = order.flatMap((name): TableCopy[] => {
    const { key, attributes, extraProperties } = model.dataClasses[name]!
    const tableName = extraProperties?.table ?? name
    const table = byName.get(tableName)
    if (!table) {
      problems.push(
        `dataclass ${name}: there is no table "${tableName}"${suggestion(tableName, byName.keys())}; extraProperties.table names another one`,
      )
      return []
    }
    const late = new Set(deferred.filter(({ from }) => from === name).map(({ foreignKey }) => foreignKey))
    const identifying = new Set([key, ...edges.flatMap(({ from, foreignKey }) => (from === name ? foreignKey : []))])
    const copiedAttributes = Object.entries(attributes).flatMap(([attribute, document]): AttributeCopy[] => {
      if ((document.kind ?? 'storage') !== 'storage') return []
      const copiedAttribute = attributeCopy(attribute, document, table, source, identifying.has(attribute))
      if (!copiedAttribute && attribute !== key) problems.push(describeMissing(name, attribute, document, table))
      return copiedAttribute ? [copiedAttribute] : []
    })
    const keyColumn = copiedAttributes.find(each => each.name === key)
    const derived = !keyColumn && table.primaryKey.length > 0 && attributes[key]?.type === 'uuid'
    if (!keyColumn && !attributes[key]?.autoFill)
      problems.push(describeMissing(name, key, attributes[key] ?? {}, table))
    return [
      {
        dataClass: name,
        table,
        key,
        attributes: copiedAttributes.filter(each => !late.has(each.name)),
        deferred: copiedAttributes.filter(each => late.has(each.name)),
        keyParts: derived
          ? table.columns
              .filter(({ name }) => table.primaryKey.includes(name))
              .map(column => ({ ...column, sql: sqlOf(column, source) }))
          : undefined,
        orderedBy: keyColumn && INTEGER.test(attributes[key]!.type!) ? keyColumn.sql : undefined,
        isNumbered: keyColumn !== undefined && keyColumn.sql === table.rowNumber,
        isAnonymous: !keyColumn && !derived,
      },
    ]
  })
  if (problems.length > 0)
    throw new Error(`the model does not fit ${source.address}:\n${problems.map(each => `  - ${each}`).join('\n')}`)
  return copies
}

function attributeCopy(
  name: string,
  document: DraftAttribute,
  table: SourceTable,
  source: SqlSource,
  isIdentity: boolean,
): AttributeCopy | undefined {
  const columnName = document.extraProperties?.column ?? name
  const column = table.columns.find(each => each.name === columnName)
  if (column) {
    const readCell = column.cell(document.type ?? '')
    const read = document.type === 'date' && document.simpleDate === true ? dayOf(readCell) : readCell
    const loss = lossOf(document.type)
    return {
      name,
      sql: sqlOf(column, source),
      read: loss && isIdentity ? refuseLoss(read, loss) : read,
      ...(!isIdentity && { loss }),
      ...(column.isBinary && { isBinary: true }),
    }
  }
  const isNumber = document.autoFill === 'increment' && table.rowNumber !== undefined
  return isNumber ? { name, sql: table.rowNumber!, read: value => JSON.stringify(String(value)) } : undefined
}

function sqlOf({ name, read }: SourceColumn, source: SqlSource): string {
  const quotedName = source.quote(name)
  return read?.(quotedName) ?? quotedName
}

function describeMissing(
  dataClass: string,
  attribute: string,
  { extraProperties }: DraftAttribute,
  table: SourceTable,
): string {
  const column = extraProperties?.column ?? attribute
  const hint = suggestion(
    column,
    table.columns.map(({ name }) => name),
  )
  return `${dataClass}.${attribute}: the table "${table.name}" has no column "${column}"${hint}; extraProperties.column names another one`
}

/**
 * Key as JSON: a UUID that is the same for the same values, so that a saved row is recognised. Version 8 is free for such use (RFC 9562).
 */
export function derivedKey(values: readonly Cell[]): string {
  const text = JSON.stringify(
    values.map(value => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value))),
  )
  const hash = createHash('sha256').update(text).digest()
  hash[6] = (hash[6]! & 0x0f) | 0x80
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return `"${hash.toString('hex', 0, 16)}"`
}
