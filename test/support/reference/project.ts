/**
 * Entities as they are sent, built from plain rows. Time stamps and global stamps are left to the test, with 0 in their place.
 * Addresses are not percent-encoded and their keys not quoted. Source: protocol notes, 1.10, 3.2 to 3.7, 4.
 */
import {
  attributeOf,
  type ClassSpec,
  classOf,
  follow,
  keyText,
  type ManySpec,
  type OneSpec,
  type Plain,
  type Row,
  relatedEntities,
  relatedEntity,
  type StorageSpec,
  valueIn,
  type World,
} from './world.ts'

/** Names with the names listed below them, in the order of the list; `*` is a name like the others. */
export type Listed = Map<string, Listed>
/** Relations to expand, with those to expand below them. */
export type Expanded = Map<string, { below: Expanded; skip: number; count: number }>

export interface Wanted {
  form: 'collection' | 'array' | 'entity'
  /** A list in the path leaves relations deferred, one in `$attributes` shows those whose attributes it names. */
  from: 'path' | 'parameter'
  listed: Listed | undefined
  expanded: Expanded
}

export function projectPage(
  world: World,
  spec: ClassSpec,
  rows: Row[],
  count: number,
  first: number,
  wanted: Wanted,
): unknown {
  const entities = rows.map(row => projectEntity(world, spec, row, wanted, wanted.listed, wanted.expanded))
  if (wanted.form === 'array') return entities
  if (wanted.form === 'entity') return { __entityModel: spec.name, ...entities[0] }
  return {
    __entityModel: spec.name,
    __GlobalStamp: 0,
    __COUNT: count,
    __FIRST: first,
    __ENTITIES: entities,
    __SENT: entities.length,
  }
}

function projectEntity(
  world: World,
  spec: ClassSpec,
  row: Row,
  wanted: Wanted,
  listed: Listed | undefined,
  expanded: Expanded,
): Record<string, unknown> {
  const isArray = wanted.form === 'array'
  const entity: Record<string, unknown> = isArray
    ? { __KEY: keyText(spec, row), __STAMP: row.stamp }
    : { __KEY: keyText(spec, row), __TIMESTAMP: 0, __STAMP: row.stamp }
  const all = spec.attributes
    .filter(each => each.kind !== 'storage' || each.scope === undefined)
    .map(({ name }) => name)
  const names = listed ? [...listed.keys()].flatMap(name => (name === '*' ? all : [name])) : all
  for (const name of new Set(names)) {
    const { relations, attribute, dataClass } = follow(world, spec, [{ name }])
    let value: unknown
    if (relations.some(({ relation }) => relation.kind === 'relatedEntities')) {
      // An alias through a relation to many is itself such a relation: it ends at one.
      const path = [...relations.map(({ relation }) => relation), attribute as OneSpec | ManySpec]
      const link = deferredMany(spec, row, name)
      const found = entitiesAlong(world, spec, row, path)
      value = collectionValue(world, path.at(-1)!.target, link, found, wanted, listed?.get(name), expanded.get(name))
    } else {
      const end = walk(
        world,
        row,
        relations.map(({ relation }) => relation as OneSpec),
      )
      const wantedBelow = listed?.get(name)
      const expansion =
        expanded.get(name) ??
        (attributeOf(spec, name).kind !== 'alias' || attribute.kind !== 'storage' ? expanded.get('$all') : undefined)
      value =
        attribute.kind === 'storage'
          ? end
            ? storageValue(dataClass, end, attribute, wantedBelow)
            : null
          : relationValue(
              world,
              dataClass,
              end,
              attribute,
              wanted,
              wantedBelow,
              appliesTo(spec, name, expanded) ? expansion : undefined,
            )
    }
    if (value !== undefined) entity[name] = value
  }
  if (isArray) entity.__GlobalStamp = 0
  return entity
}

/** `$all` means the relations themselves, not their aliases. */
const appliesTo = (spec: ClassSpec, name: string, expanded: Expanded): boolean =>
  expanded.has(name) || attributeOf(spec, name).kind !== 'alias'

function walk(world: World, row: Row, relations: OneSpec[]): Row | undefined {
  return relations.reduce<Row | undefined>((at, relation) => at && relatedEntity(world, relation, at), row)
}

function relationValue(
  world: World,
  spec: ClassSpec,
  row: Row | undefined,
  relation: OneSpec | ManySpec,
  wanted: Wanted,
  listed: Listed | undefined,
  expansion: { below: Expanded; skip: number; count: number } | undefined,
): unknown {
  const isNamed = listed !== undefined && listed.size > 0
  const isShown = expansion !== undefined || (isNamed && wanted.from === 'parameter')
  if (!isShown && wanted.form === 'array') return undefined
  if (!row) return null
  const target = classOf(world, relation.target)
  if (relation.kind === 'relatedEntities') {
    const all = relatedEntities(world, spec, relation, row)
    return collectionValue(world, target.name, deferredMany(spec, row, relation.name), all, wanted, listed, expansion)
  }
  const related = relatedEntity(world, relation, row)
  if (related && isShown)
    return projectEntity(world, target, related, wanted, isNamed ? listed : undefined, expansion?.below ?? new Map())
  const foreignKey = valueIn(row, relation.foreignKey)
  // A link from or to an entity of a database: whether there is such an entity shows when it is followed.
  if (isShown || (!related && ((!target.storage && !spec.storage) || foreignKey === null))) return null
  const key = related ? keyText(target, related) : String(foreignKey)
  return { __deferred: { uri: `/rest/${target.name}(${key})`, __KEY: key } }
}

function collectionValue(
  world: World,
  target: string,
  deferred: ReturnType<typeof deferredMany>,
  all: Row[],
  wanted: Wanted,
  listed: Listed | undefined,
  expansion: { below: Expanded; skip: number; count: number } | undefined,
): unknown {
  const isNamed = listed !== undefined && listed.size > 0
  const isShown = expansion !== undefined || (isNamed && wanted.from === 'parameter')
  if (!isShown) return wanted.form === 'array' ? undefined : deferred
  const { skip, count } = expansion ?? { skip: 0, count: 100 }
  const spec = classOf(world, target)
  const sent = all
    .slice(skip, skip + count)
    .map(row => projectEntity(world, spec, row, wanted, isNamed ? listed : undefined, expansion?.below ?? new Map()))
  if (wanted.form === 'array') return sent
  return {
    __ENTITYSET: deferred.__deferred.uri,
    __GlobalStamp: 0,
    __COUNT: all.length,
    __FIRST: skip,
    __ENTITIES: sent,
    __SENT: sent.length,
  }
}

/** Entities that relations lead to, each once, in order of creation. */
function entitiesAlong(world: World, spec: ClassSpec, row: Row, path: readonly (OneSpec | ManySpec)[]): Row[] {
  const [relation, ...others] = path
  if (!relation) return [row]
  const one = relation.kind === 'relatedEntity' ? relatedEntity(world, relation, row) : undefined
  const next = relation.kind === 'relatedEntity' ? (one ? [one] : []) : relatedEntities(world, spec, relation, row)
  const found = next.flatMap(each => entitiesAlong(world, classOf(world, relation.target), each, others))
  return [...new Set(found)].sort((a, b) => a.id - b.id)
}

const deferredMany = (spec: ClassSpec, row: Row, name: string) => ({
  __deferred: { uri: `/rest/${spec.name}(${keyText(spec, row)})/${name}?$expand=${name}` },
})

/** A stored value as sent, also in the answer to a write. */
export function storageValue(spec: ClassSpec, row: Row, attribute: StorageSpec, listed?: Listed): unknown {
  const value = valueIn(row, attribute.name)
  if (value === null) return null
  switch (attribute.type) {
    case 'date':
      return new Date(value as number).toISOString().slice(0, attribute.simpleDate ? 10 : undefined)
    case 'long64':
      // As a JSON parser reads it.
      return Number(value)
    case 'number':
    case 'float':
      // Minus zero is zero in JSON.
      return (value as number) + 0
    case 'blob':
      return {
        __deferred: {
          uri: `/rest/${spec.name}(${keyText(spec, row)})/${attribute.name}?$binary=true&$expand=${attribute.name}`,
        },
      }
    case 'object':
      return listed && listed.size > 0 ? someProperties(value, listed) : value
    default:
      return value
  }
}

/** Only the named properties, as far as they exist. */
function someProperties(value: Plain | unknown, listed: Listed): unknown {
  if (listed.size === 0) return value
  if (Array.isArray(value)) return value.map(element => someProperties(element, listed))
  if (typeof value !== 'object' || value === null) return value
  const object = value as Record<string, unknown>
  return Object.fromEntries(
    [...listed]
      .filter(([name]) => Object.hasOwn(object, name))
      .map(([name, below]) => [name, someProperties(object[name], below)]),
  )
}
