import type { XmlElement } from '@rgrove/parse-xml'
import { elements } from './read-xml.ts'

/** Structure of a 4D database. Tables and fields refer to each other by `id`, their UUID. */
export interface Structure {
  readonly name: string
  readonly tables: readonly Table[]
  readonly relations: readonly Relation[]
  readonly indexes: readonly Index[]
}

export interface Table {
  readonly id: string
  readonly name: string
  readonly fields: readonly Field[]
  /** Fields of the primary key. */
  readonly key: readonly string[]
  readonly isHidden: boolean
  readonly isTrashed: boolean
}

export interface Field {
  readonly id: string
  readonly name: string
  /** Number of the type, as a string. */
  readonly type: string
  readonly isUuid: boolean
  readonly isVector: boolean
  readonly isUnique: boolean
  readonly isNotNull: boolean
  readonly isSequence: boolean
  readonly isGenerated: boolean
  readonly isHidden: boolean
  readonly isMultiLine: boolean
  readonly maxLength: number | undefined
}

export interface Relation {
  /** Field with the foreign key. */
  readonly source: string
  readonly destination: string
  /** Names of the two relations; empty if there is none. */
  readonly toOne: string
  readonly toMany: string
  readonly integrity: string
}

/** An index other than a keyword index. */
interface Index {
  readonly table: string
  readonly fields: readonly string[]
  readonly isUnique: boolean
}

/**
 * Reads the elements of a `.4DCatalog` file, or of a structure that 4D has exported as XML. Unknown elements are ignored.
 * @throws {Error} the root is another element, or an element has no name
 */
export function readStructure(root: XmlElement): Structure {
  if (root.name !== 'base') throw new Error(`it begins with <${root.name}>; a structure of 4D begins with <base>`)
  const tables = elements(root, 'table').map(readTable)
  const byName = new Map<string, string>()
  for (const table of tables) {
    byName.set(key(table.name), table.id)
    for (const field of table.fields) byName.set(key(table.name, field.name), field.id)
  }
  const idOf = (field: XmlElement): string => {
    const [table] = elements(field, 'table_ref')
    return text(field, 'uuid') || (byName.get(key(text(table, 'name'), text(field, 'name'))) ?? '')
  }
  const indexes = elements(root, 'index')
    .filter(index => text(index, 'kind') !== 'keywords')
    .map(index => {
      const fields = elements(index, 'field_ref')
      const table = fields[0] && elements(fields[0], 'table_ref')[0]
      return {
        table: text(table, 'uuid') || (byName.get(key(text(table, 'name'))) ?? ''),
        fields: fields.map(idOf),
        isUnique: is(index, 'unique_keys'),
      }
    })
  const relations = elements(root, 'relation').map(relation => {
    const end = (kind: string): string => {
      const relatedField = elements(relation, 'related_field').find(each => text(each, 'kind') === kind)
      const field = relatedField && elements(relatedField, 'field_ref')[0]
      return field ? idOf(field) : ''
    }
    return {
      source: end('source'),
      destination: end('destination'),
      toOne: text(relation, 'name_Nto1'),
      toMany: text(relation, 'name_1toN'),
      integrity: text(relation, 'integrity'),
    }
  })
  return { name: text(root, 'name') || 'structure', tables, relations, indexes }
}

function readTable(table: XmlElement): Table {
  const name = demand(table, 'name')
  const fields = elements(table, 'field').map(field => readField(field, name))
  const extra = elements(table, 'table_extra')[0]
  return {
    id: text(table, 'uuid') || key(name),
    name,
    fields,
    key: elements(table, 'primary_key').map(
      each => text(each, 'field_uuid') || (fields.find(field => field.name === text(each, 'field_name'))?.id ?? ''),
    ),
    isHidden: is(table, 'hide_in_REST'),
    isTrashed: is(extra, 'trashed'),
  }
}

function readField(field: XmlElement, table: string): Field {
  const name = demand(field, 'name')
  const extra = elements(field, 'field_extra')[0]
  const length = Number(text(field, 'limiting_length'))
  return {
    id: text(field, 'uuid') || key(table, name),
    name,
    type: demand(field, 'type'),
    isUuid: is(field, 'store_as_UUID'),
    isVector: text(extra, 'class_id') === '4D.Vector',
    isUnique: is(field, 'unique'),
    isNotNull: is(field, 'not_null'),
    isSequence: is(field, 'autosequence'),
    isGenerated: is(field, 'autogenerate'),
    isHidden: is(field, 'hide_in_REST'),
    isMultiLine: text(extra, 'multi_line') === 'true',
    maxLength: length > 0 && Number.isInteger(length) ? length : undefined,
  }
}

/** Identifies a table or a field without a UUID. */
const key = (...names: readonly string[]): string => JSON.stringify(names)

const text = (element: XmlElement | undefined, name: string): string => element?.attributes[name] ?? ''
const is = (element: XmlElement | undefined, name: string): boolean => text(element, name) === 'true'

function demand(element: XmlElement, name: string): string {
  const value = text(element, name)
  if (value === '') throw new Error(`an element <${element.name}> has no ${name}`)
  return value
}
