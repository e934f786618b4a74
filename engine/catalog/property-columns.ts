import type { DataClass } from './dataclass.ts'
import type { DeclaredProperty, JsonType, PropertySource, StorageAttribute } from './attribute.ts'
import { parametersOf } from './types/parameters.ts'
import { TYPES } from './types/registry.ts'
import { isScalarType, type ScalarType } from './value-type.ts'
import type { StorageModel } from './model-schema.ts'
import { jsonTypeOf, propertyOf } from './property.ts'
import { commonValue, commonValueAfter } from './unique-together.ts'
import type { Value } from './value.ts'

/**
 * Columns and an index for declared properties of objects. They are attributes only for the code that keeps and reads columns
 * and indexes; the catalog and rows do not contain them.
 */

/** @param positions of the attributes and indexed properties of the dataclass, by name */
export function declaredProperties(
  object: StorageAttribute,
  { properties = {} }: StorageModel,
  positions: Readonly<Record<string, number>>,
): Map<string, DeclaredProperty> {
  return new Map(
    Object.entries(properties).map(([path, { type, indexed }]) => {
      const name = `${object.name}.${path}`
      const source = { object, names: path.split('.'), type: TYPES[type].comparison } as const
      const values = columnOf(object, TYPE_OF_VALUES[source.type], { ...source, holds: 'values' })
      const others = columnOf(object, 'blob', { ...source, holds: 'others' })
      const columns = indexed && {
        values: { ...values, name, position: positions[name]!, indexed: true },
        others: { ...others, name: `${name} of another type` },
      }
      return [path, { type, columns: columns || undefined }]
    }),
  )
}

/** Everything of a dataclass that has an index. Each index has an entry for every row. */
export const indexesOf = ({ attributes, uniqueTogether }: DataClass): StorageAttribute[] => [
  ...attributes.flatMap(attribute => {
    if (attribute.kind !== 'storage') return []
    return attribute.indexed ? [attribute] : columnsOver(attribute).filter(({ indexed }) => indexed)
  }),
  ...uniqueTogether,
]

/** True if there is an index by value, which has an entry for every row. */
export const hasIndex = (attribute: StorageAttribute): boolean => attribute.indexed && isScalarType(attribute.type)

/** The columns over properties of an object. */
export const columnsOver = ({ properties }: Pick<StorageAttribute, 'properties'>): StorageAttribute[] =>
  [...properties.values()].flatMap(({ columns }) => (columns ? [columns.values, columns.others] : []))

/** Columns over one property; undefined when it has none. @param names path of the property */
export function columnsAt({ properties }: Pick<StorageAttribute, 'properties'>, names: readonly string[]) {
  const columns = properties.get(names.join('.'))?.columns
  // A name from a placeholder may contain a dot.
  return columns?.values.source?.names.length === names.length ? columns : undefined
}

/** Value of an attribute, of a column over a property, or of attributes that are unique together, in a row that has these values. */
export function valueAmong(
  values: { get(attribute: StorageAttribute): Value | undefined },
  attribute: StorageAttribute,
): Value {
  const { source, together } = attribute
  if (together) return commonValue(together, member => values.get(member) ?? null)
  return source ? (heldValue(source, values.get(source.object) ?? null) as Value) : (values.get(attribute) ?? null)
}

/** Value in an index after a change of a row; undefined if the change does not affect it. @param changes values that it sets */
export function indexedAfter(
  attribute: StorageAttribute,
  changes: { get(attribute: StorageAttribute): Value | undefined },
  before: { value(attribute: StorageAttribute): Value | true },
): Value | undefined {
  if (attribute.together) return commonValueAfter(attribute.together, changes, before)
  return changes.get(attribute.source?.object ?? attribute) === undefined ? undefined : valueAmong(changes, attribute)
}

/** Value that a column over a property holds for an object; true in a column that holds only presence. */
export function heldValue({ names, type, holds }: PropertySource, object: Value): Value | true {
  const value = names.reduce<unknown>(propertyOf, object) ?? null
  if (value === null || (jsonTypeOf(value) === type) !== (holds === 'values')) return null
  return holds === 'values' ? (value as Value) : true
}

const TYPE_OF_VALUES = { number: 'number', text: 'string', bool: 'bool' } as const satisfies Record<
  JsonType,
  ScalarType
>

const columnOf = (
  object: StorageAttribute,
  type: StorageAttribute['type'],
  source: PropertySource,
): StorageAttribute => ({
  ...object,
  ...parametersOf(),
  type,
  source,
  position: 0,
  default: undefined,
  properties: new Map(),
})
