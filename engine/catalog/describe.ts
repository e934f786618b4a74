import {
  type AliasAttribute,
  type Attribute,
  isRelation,
  type RelationAttribute,
  type StorageAttribute,
  type ValueAttribute,
} from './attribute.ts'
import { defaultJson, isFilled } from './new-value.ts'
import { TYPES } from './types/registry.ts'
import type { DataClass } from './dataclass.ts'
import type { View } from './view.ts'

/**
 * The catalog as a client sees it, under the names of the protocol. A property that would be false or empty is absent, except
 * `simpleDate`, which every date has.
 * Source: base specification, 2.1 to 2.3; protocol notes, 3.1.
 */

/** Answer to `$catalog`: the list twice, under its name in the specification and its name in recorded clients. */
export function describeCatalog(view: View): { dataClass: object[]; dataClasses: object[] } {
  const list = view.dataClasses.map(({ name }) => ({
    name,
    uri: `${view.catalog.restPath}/$catalog/${name}`,
    dataURI: `${view.catalog.restPath}/${name}`,
  }))
  return { dataClass: list, dataClasses: list }
}

/** Answer to `$catalog/$all`: every description, without the parts that only the description of a single dataclass has. */
export function describeAll(view: View): { dataClasses: { name: string; attributes: object[] }[] } {
  return {
    dataClasses: view.dataClasses.map(dataClass => ({
      ...identity(dataClass, view),
      ...structure(dataClass, view),
    })),
  }
}

/** Answer to `$catalog/{dataClass}`. */
export function describeDataClass(dataClass: DataClass, view: View): { name: string; attributes: object[] } {
  const { defaultTopSize, extraProperties } = dataClass
  return {
    ...identity(dataClass, view),
    ...(defaultTopSize !== undefined && { defaultTopSize }),
    ...(extraProperties && { extraProperties }),
    ...structure(dataClass, view),
  }
}

const identity = ({ name, collectionName, tableNumber, scope, description }: DataClass, { catalog }: View) => ({
  name,
  className: name,
  collectionName,
  tableNumber,
  scope,
  ...(description !== undefined && { description }),
  dataURI: `${catalog.restPath}/${name}`,
})

const structure = (dataClass: DataClass, view: View) => ({
  attributes: view.attributes(dataClass).map(attribute => describeAttribute(attribute, view)),
  key: [{ name: dataClass.key.name }],
  ...uniqueTogether(dataClass, view),
})

/** Lists that contain a hidden attribute are not shown. */
function uniqueTogether(dataClass: DataClass, view: View): { unique?: string[][] } {
  const lists = dataClass.uniqueTogether.map(({ together }) => together!)
  const unique = lists
    .filter(list => list.every(member => view.shows(member)))
    .map(list => list.map(({ name }) => name))
  return unique.length > 0 ? { unique } : {}
}

function describeAttribute(attribute: Attribute, view: View): object {
  const { name, scope, description, extraProperties } = attribute
  const kind = attribute.kind === 'storage' && attribute.calculation ? 'calculated' : attribute.kind
  return withoutUndefined({
    name,
    kind,
    fieldPos: kind === 'storage' ? attribute.position : undefined,
    scope,
    description,
    ...options(attribute, view),
    extraProperties,
  })
}

function options(attribute: Attribute, view: View): Record<string, unknown> {
  /** Name of an attribute, or undefined if the client must not learn of it. */
  const visibleName = (other: Attribute): string | undefined => (view.shows(other) ? other.name : undefined)
  switch (attribute.kind) {
    case 'storage':
      return storageOptions(attribute)
    case 'relatedEntity': {
      const { target, foreignKey, inverse } = attribute
      return {
        type: target.name,
        path: target.name,
        foreignKey: visibleName(foreignKey),
        inverseName: inverse && visibleName(inverse),
      }
    }
    case 'relatedEntities': {
      const { target, inverse } = attribute
      return {
        type: target.collectionName,
        path: visibleName(inverse),
        inverseName: visibleName(inverse),
        reversePath: true,
      }
    }
    case 'calculated':
      return { ...catalogType(attribute), readOnly: isReadOnly(attribute), unrestricted: isUnrestricted(attribute) }
    case 'alias': {
      const { target } = attribute
      const type = isRelation(target) ? { type: selectionOrEntity(attribute, target) } : catalogType(target)
      return { ...type, path: shownPath(attribute, view), readOnly: true }
    }
  }
}

function storageOptions(attribute: StorageAttribute): Record<string, unknown> {
  const { dataClass, indexed, unique, mandatory, autoFill, multiLine, defaultFormat } = attribute
  const { minValue, maxValue, minLength, maxLength, pattern, choices } = attribute
  return {
    indexed: indexed || undefined,
    ...catalogType(attribute),
    dimension: attribute.vector?.dimension,
    identifying: dataClass.key === attribute || undefined,
    unique: unique || undefined,
    autosequence: autoFill === 'increment' || undefined,
    // An attribute that is filled automatically, or has a default, need not be sent.
    mandatory: (mandatory && !isFilled(attribute)) || undefined,
    default: defaultJson(attribute),
    readOnly: isReadOnly(attribute),
    unrestricted: isUnrestricted(attribute),
    minValue,
    maxValue,
    minLength,
    maxLength,
    pattern,
    choices,
    defaultFormat,
    multiLine: multiLine || undefined,
  }
}

/** Path of an alias, or undefined if the client must not learn of a name in it; the alias itself remains readable. */
function shownPath({ dataClass, path }: AliasAttribute, view: View): string | undefined {
  let owner = dataClass
  for (const name of path) {
    const attribute = view.attribute(owner, name)
    if (!attribute) return undefined
    const end = attribute.kind === 'alias' ? attribute.target : attribute
    if (isRelation(end)) owner = end.target
  }
  return path.join('.')
}

/** Type of an alias of a relation: a collection if any relation on the path leads to many entities. */
const selectionOrEntity = ({ relations }: AliasAttribute, target: RelationAttribute): string =>
  [...relations, target].some(({ kind }) => kind === 'relatedEntities')
    ? target.target.collectionName
    : target.target.name

function catalogType(attribute: ValueAttribute): { type: string } {
  const { catalogName, catalogOptions } = TYPES[attribute.type]
  return { type: catalogName(attribute), ...catalogOptions?.(attribute) }
}

/** A calculated attribute is read-only, unless its code accepts values. */
const isReadOnly = (attribute: ValueAttribute): true | undefined =>
  attribute.calculation?.settable ? undefined : attribute.kind === 'calculated' || attribute.readOnly || undefined

const isUnrestricted = ({ calculation }: ValueAttribute): true | undefined => calculation?.unrestricted || undefined

const withoutUndefined = (object: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
