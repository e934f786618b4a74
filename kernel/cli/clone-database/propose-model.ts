import {
  add,
  attributeWith,
  type DraftAttribute,
  type DraftClass,
  type DraftModel,
  relationOf,
} from '../draft-model.ts'
import { Names } from './names.ts'
import type { Edge } from './order.ts'
import { inverseName, relationName } from './relation-names.ts'
import type { SourceColumn, SourceForeignKey, SourceTable } from './source.ts'

export interface Proposal {
  readonly model: DraftModel
  /** Losses and decisions: one sentence each. */
  readonly notes: string[]
}

/** Key of a dataclass: a column, or an attribute that is added to the attributes of the columns. */
export type ProposedKey = { readonly column: SourceColumn } | { readonly added: DraftAttribute }

/** Choices that depend on how the tables are used. */
export interface ModelStyle {
  /** Last word of the sentence "that table is not …". */
  readonly participle: string
  /** The key of a table; undefined if the table has no dataclass. */
  keyOf(table: SourceTable, notes: string[]): ProposedKey | undefined
  /** Properties of a dataclass besides its key and attributes. @param attributes names by column */
  ofTable(table: SourceTable, name: string, attributes: ReadonlyMap<string, string>): Record<string, unknown>
  /** Properties of an attribute besides its type, indexes and autoFill; false or undefined for none. */
  ofColumn(column: SourceColumn, table: SourceTable, name: string, isKey: boolean): Record<string, unknown>
}

interface ProposalOptions {
  readonly name: string
  /** Names of dataclasses, by table. */
  readonly names: Readonly<Record<string, string>>
  readonly style: ModelStyle
}

/** Types that cannot be a key or have an index, because they are not single values. */
const NOT_SCALAR = new Set(['object', 'blob', 'image', 'vector'])
const INCREMENTED = new Set(['word', 'long', 'long64'])
const FAMILY: Readonly<Record<string, string>> = {
  byte: 'integer',
  word: 'integer',
  long: 'integer',
  long64: 'integer',
}

/** A dataclass under construction. */
interface Draft {
  readonly name: string
  readonly collection: string
  readonly table: SourceTable
  readonly document: DraftClass
  /** Names of attributes by column. */
  readonly attributes: Map<string, string>
  readonly usedNames: Names
}

/** Describes tables as a model. */
export function proposeModel(tables: readonly SourceTable[], { name, names, style }: ProposalOptions): Proposal {
  const notes: string[] = []
  const classNames = new Names()
  const model: DraftModel = { name, dataClasses: {} }
  const drafts = new Map<string, Draft>()
  for (const [i, table] of tables.entries()) {
    const key = style.keyOf(table, notes)
    if (!key) continue
    const dataClass = classNames.take(names[table.name] ?? table.name, `table_${i + 1}`)
    // The names of selections must be unique too.
    const collection = classNames.take(`${dataClass}Selection`, dataClass)
    const draft = draftOf(table, key, dataClass, collection, style, notes)
    drafts.set(table.name, draft)
    model.dataClasses[dataClass] = draft.document
  }
  for (const draft of drafts.values()) addRelations(model, draft, drafts, style, notes)
  return { model, notes }
}

function draftOf(
  table: SourceTable,
  key: ProposedKey,
  name: string,
  collection: string,
  style: ModelStyle,
  notes: string[],
): Draft {
  const attributeNames = new Names()
  const attributes = new Map<string, string>()
  for (const [i, { name: column }] of table.columns.entries())
    attributes.set(column, attributeNames.take(column, `column_${i + 1}`))
  const keyName = 'column' in key ? attributes.get(key.column.name)! : attributeNames.take('ID', 'ID')
  const document: DraftClass = {
    key: keyName,
    attributes: 'added' in key ? { [keyName]: key.added } : {},
    ...(collection !== `${name}Selection` && { collectionName: collection }),
    ...style.ofTable(table, name, attributes),
  }
  for (const column of table.columns) {
    const attribute = attributes.get(column.name)!
    const isKey = attribute === keyName
    const more = style.ofColumn(column, table, attribute, isKey)
    document.attributes[attribute] = attributeWith({ ...propertiesOf(column, table, isKey), ...more })
    if (column.note) notes.push(`${table.name}.${column.name} ${column.note}`)
  }
  return { name, collection, table, document, attributes, usedNames: attributeNames }
}

function propertiesOf(column: SourceColumn, table: SourceTable, isKey: boolean): Record<string, unknown> {
  const { attribute, increments, hasDefault } = column
  const isUnique = isUniqueAlone(column, table)
  const fill =
    increments && INCREMENTED.has(attribute.type) ? 'increment' : attribute.type === 'uuid' && hasDefault && 'uuid'
  return {
    ...attribute,
    autoFill: isKey && fill,
    unique: !isKey && isScalar(column) && isUnique,
    indexed: !isKey && isScalar(column) && !isUnique && table.indexed.has(column.name),
  }
}

export const isUniqueAlone = ({ name }: SourceColumn, { primaryKey, uniques }: SourceTable): boolean =>
  [primaryKey, ...uniques].some(([first, more]) => first === name && more === undefined)

/** True if a column can be a key or have an index. */
export const isScalar = ({ attribute }: SourceColumn): boolean => !NOT_SCALAR.has(attribute.type)

function addRelations(
  model: DraftModel,
  draft: Draft,
  drafts: ReadonlyMap<string, Draft>,
  { participle }: ModelStyle,
  notes: string[],
): void {
  const { table, document, attributes, usedNames } = draft
  /** Names of the tables that the relations of columns refer to. */
  const relatedTables = new Map<string, string>()
  for (const key of table.foreignKeys) {
    // A table may declare the same constraint twice.
    if (key.columns.length === 1 && relatedTables.get(key.columns[0]!) === key.table) continue
    const other = drafts.get(key.table)
    const problem = other
      ? relationProblem(draft, other, key, relatedTables)
      : `because that table is not ${participle}`
    if (problem) {
      notes.push(
        `${table.name}: the foreign key ${key.columns.join(', ')} to ${key.table} is not a relation, ${problem}`,
      )
      continue
    }
    const column = key.columns[0]!
    relatedTables.set(column, key.table)
    const foreignKey = attributes.get(column)!
    const isSelf = other === draft
    const relation = usedNames.take(freeRelationName(column, key.table, usedNames, isSelf), 'relation')
    const isMain = relation === key.table || table.foreignKeys.filter(each => each.table === key.table).length === 1
    const inverse = other!.usedNames.take(
      inverseName({ from: draft.name, column, relation, isSelf, isMain }),
      'inverse',
    )
    const isMandatory = document.attributes[foreignKey]!.mandatory === true || document.key === foreignKey
    const onDelete = key.onDelete === 'setNull' && isMandatory ? 'restrict' : key.onDelete
    const ends = { from: draft.name, name: relation, to: other!.name, inverse, collection: draft.collection }
    add(model, relationOf({ ...ends, foreignKey, onDelete: onDelete === 'restrict' ? undefined : onDelete }))
    delete document.attributes[foreignKey]!.indexed
  }
}

/**
 * Name of a relation: `author` for `author_id`; the name of the other table if the column gives no such name, or if it is taken. The name of
 * its own table would say nothing about a relation of a table to itself.
 */
function freeRelationName(column: string, table: string, usedNames: Names, isSelf: boolean): string {
  const candidates = [relationName(column), isSelf ? undefined : table, `${column}_${table}`]
  return candidates.find(name => name !== undefined && !usedNames.has(name)) ?? `${column}_${table}`
}

/** Reason why a foreign key cannot be a relation; undefined if it can. */
function relationProblem(
  { table, document, attributes }: Draft,
  other: Draft,
  { columns, references }: SourceForeignKey,
  relatedTables: ReadonlyMap<string, string>,
): string | undefined {
  if (columns.length > 1) return 'because it has several columns'
  const target = other.attributes.get(references[0] ?? '')
  if (target === undefined || target !== other.document.key)
    return `because ${references.join(', ')} is not the key of that table`
  if (relatedTables.has(columns[0]!)) return 'because the column already has a relation'
  const ownAttribute = document.attributes[attributes.get(columns[0]!) ?? '']
  if (!ownAttribute) return `because ${table.name} has no such column`
  const key = other.document.attributes[other.document.key]!
  const family = ({ type, scale }: DraftAttribute): string => `${FAMILY[type!] ?? type} ${scale ?? ''}`
  return family(ownAttribute) === family(key)
    ? undefined
    : `because its type is ${ownAttribute.type}, and the type of the key is ${key.type}`
}

/** To-one relations of a dataclass. */
export function edgesOf(name: string, { key, attributes }: DraftClass): Edge[] {
  return Object.values(attributes).flatMap(({ kind, type, foreignKey }): Edge[] => {
    if (kind !== 'relatedEntity' || typeof foreignKey !== 'string') return []
    const isMandatory = foreignKey === key || attributes[foreignKey]?.mandatory === true
    return [{ from: name, to: type!, foreignKey, isMandatory }]
  })
}
