import { type Attribute, isRelation, type StorageAttribute, type ValueAttribute } from './attribute.ts'
import type { StorageType } from './value-type.ts'
import type { DataClass } from './dataclass.ts'
import type { View } from './view.ts'

/**
 * The catalog as a client sees it, under the names of the protocol. A property that would be false or empty
 * is absent, but for `simpleDate`, which every date has.
 * Source: base specification, 2.1 to 2.3; protocol notes, 3.1.
 */

/** What `$catalog` answers: the list twice, as the specification and as recorded clients call it. */
export function describeCatalog(view: View): { dataClass: object[]; dataClasses: object[] } {
  const list = view.dataClasses.map(({ name }) => ({
    name,
    uri: `/rest/$catalog/${name}`,
    dataURI: `/rest/${name}`,
  }))
  return { dataClass: list, dataClasses: list }
}

/** What `$catalog/$all` answers: every description, without what only the description of one dataclass has. */
export function describeAll(view: View): { dataClasses: { name: string; attributes: object[] }[] } {
  return {
    dataClasses: view.dataClasses.map(dataClass => ({
      ...identity(dataClass),
      ...structure(dataClass, view),
    })),
  }
}

/** What `$catalog/{dataClass}` answers. */
export function describeDataClass(dataClass: DataClass, view: View): { name: string; attributes: object[] } {
  const { defaultTopSize, extraProperties } = dataClass
  return {
    ...identity(dataClass),
    ...(defaultTopSize !== undefined && { defaultTopSize }),
    ...(extraProperties && { extraProperties }),
    ...structure(dataClass, view),
  }
}

const identity = ({ name, collectionName, tableNumber, scope }: DataClass) => ({
  name,
  className: name,
  collectionName,
  tableNumber,
  scope,
  dataURI: `/rest/${name}`,
})

const structure = (dataClass: DataClass, view: View) => ({
  attributes: view.attributes(dataClass).map(attribute => describeAttribute(attribute, view)),
  key: [{ name: dataClass.key.name }],
})

function describeAttribute(attribute: Attribute, view: View): object {
  const { name, scope, extraProperties } = attribute
  const kind = attribute.kind === 'storage' && attribute.calculation ? 'calculated' : attribute.kind
  return withoutUndefined({
    name,
    kind,
    fieldPos: kind === 'storage' ? attribute.position : undefined,
    scope,
    ...options(attribute, view),
    extraProperties,
  })
}

function options(attribute: Attribute, view: View): Record<string, unknown> {
  /** The name of an attribute, unless it is one that the client must not learn of. */
  const shown = (other: Attribute): string | undefined => (view.shows(other) ? other.name : undefined)
  switch (attribute.kind) {
    case 'storage':
      return storageOptions(attribute)
    case 'relatedEntity': {
      const { target, foreignKey, inverse } = attribute
      return {
        type: target.name,
        path: target.name,
        foreignKey: shown(foreignKey),
        inverseName: inverse && shown(inverse),
      }
    }
    case 'relatedEntities': {
      const { target, inverse } = attribute
      return { type: target.collectionName, path: shown(inverse), inverseName: shown(inverse), reversePath: true }
    }
    case 'calculated':
      return { type: attribute.type, simpleDate: simpleDate(attribute), readOnly: isReadOnly(attribute) }
    case 'alias': {
      const { target, path } = attribute
      return { type: typeOf(attribute), simpleDate: simpleDate(target), path: path.join('.'), readOnly: true }
    }
  }
}

function storageOptions(attribute: StorageAttribute): Record<string, unknown> {
  const { dataClass, type, indexed, unique, autoFill, multiLine, defaultFormat } = attribute
  const { minValue, maxValue, minLength, maxLength, pattern } = attribute
  return {
    indexed: indexed || undefined,
    type: wireType(type),
    dimension: attribute.vector?.dimension,
    simpleDate: simpleDate(attribute),
    identifying: dataClass.key === attribute || undefined,
    unique: unique || undefined,
    autosequence: autoFill === 'increment' || undefined,
    readOnly: isReadOnly(attribute),
    minValue,
    maxValue,
    minLength,
    maxLength,
    pattern,
    defaultFormat,
    multiLine: multiLine || undefined,
  }
}

/** Type of an alias: that of its end, or a collection as soon as one relation on the way leads to many. */
function typeOf({ relations, target }: Extract<Attribute, { kind: 'alias' }>): string {
  if (!isRelation(target)) return wireType(target.type)
  return [...relations, target].some(({ kind }) => kind === 'relatedEntities')
    ? target.target.collectionName
    : target.target.name
}

/** The protocol has no type of its own for vectors. */
const wireType = (type: StorageType): string => (type === 'vector' ? 'object' : type)

const simpleDate = (attribute: Attribute): boolean | undefined => {
  if (!('type' in attribute) || attribute.type !== 'date') return undefined
  return 'simpleDate' in attribute && attribute.simpleDate
}

/** What is calculated is, unless its code takes values. */
const isReadOnly = (attribute: ValueAttribute): true | undefined =>
  attribute.calculation?.settable ? undefined : attribute.kind === 'calculated' || attribute.readOnly || undefined

const withoutUndefined = (object: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
