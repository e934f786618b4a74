import {
  type Attribute,
  isRelation,
  type StorageAttribute,
  type StorageType,
  type ValueAttribute,
} from './attribute.ts'
import type { Catalog, DataClass } from './dataclass.ts'

/**
 * The catalog as clients see it: what is public, under the names of the protocol. A property that would be false or empty
 * is absent, but for `simpleDate`, which every date has.
 * Source: base specification, 2.1 to 2.3; protocol notes, 3.1.
 */

/** What `$catalog` answers: the list twice, as the specification and as recorded clients call it. */
export function describeCatalog(catalog: Catalog): { dataClass: object[]; dataClasses: object[] } {
  const list = publicDataClasses(catalog).map(({ name }) => ({
    name,
    uri: `/rest/$catalog/${name}`,
    dataURI: `/rest/${name}`,
  }))
  return { dataClass: list, dataClasses: list }
}

/** What `$catalog/$all` answers: every description, without what only the description of one dataclass has. */
export function describeAll(catalog: Catalog): { dataClasses: { name: string; attributes: object[] }[] } {
  return {
    dataClasses: publicDataClasses(catalog).map(dataClass => ({
      ...identity(dataClass),
      ...structure(dataClass),
    })),
  }
}

/** What `$catalog/{dataClass}` answers. The caller has made sure that the dataclass is public. */
export function describeDataClass(dataClass: DataClass): { name: string; attributes: object[] } {
  const { defaultTopSize, extraProperties } = dataClass
  return {
    ...identity(dataClass),
    ...(defaultTopSize !== undefined && { defaultTopSize }),
    ...(extraProperties && { extraProperties }),
    ...structure(dataClass),
  }
}

const publicDataClasses = (catalog: Catalog) => catalog.dataClasses.filter(({ scope }) => scope === 'public')

const identity = ({ name, collectionName, tableNumber, scope }: DataClass) => ({
  name,
  className: name,
  collectionName,
  tableNumber,
  scope,
  dataURI: `/rest/${name}`,
})

const structure = ({ attributes, key }: DataClass) => ({
  attributes: attributes.filter(({ scope }) => scope === 'public').map(describeAttribute),
  key: [{ name: key.name }],
})

function describeAttribute(attribute: Attribute): object {
  const { name, scope, extraProperties } = attribute
  const kind = attribute.kind === 'storage' && attribute.calculation ? 'calculated' : attribute.kind
  return withoutUndefined({
    name,
    kind,
    fieldPos: kind === 'storage' ? attribute.position : undefined,
    scope,
    ...options(attribute),
    extraProperties,
  })
}

function options(attribute: Attribute): Record<string, unknown> {
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

/** The name of an attribute, unless it is one that clients must not learn of. */
const shown = ({ name, scope }: Attribute): string | undefined => (scope === 'public' ? name : undefined)

const withoutUndefined = (object: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
