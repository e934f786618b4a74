/** Entities as the panel shows them. */
import { type Attribute, type DataClass, dataClasses, targetOf } from '../base/catalog.ts'
import { labelOf } from '../base/label.ts'
import { beginningOf } from './editor.ts'
import { entityPath } from '../base/paths.ts'
import { AnswerTooLarge, ask, read, readWithHead } from '../base/rest.ts'
import { membersOf } from './json-text.ts'

export interface Entity {
  readonly __KEY: string
  readonly __STAMP: number
  readonly __TIMESTAMP?: string
  readonly [attribute: string]: unknown
}

export interface LoadedEntity {
  readonly entity: Entity
  /** The values as JSON, in which numbers have all their digits. */
  readonly json: ReadonlyMap<string, string>
  /** Attributes with values of which only the beginning was loaded. */
  readonly large: ReadonlySet<string>
}

const MAX_BYTES = 200_000
/** Bounds of single values: for most entities, for those with hundreds of long texts, and for those with a thousand. */
const BRIEF_BYTES = [20_000, 300, 32]
/** Number of related entities that are shown for each relation. */
const PREVIEWED = 5
/** Number of relations that are read by one request. */
const RELATIONS_AT_ONCE = 8

/** The dataclass of the entity to which an attribute leads: a relation, or an alias of one. */
export const linkedClass = ({ kind, type }: Attribute): DataClass | undefined =>
  kind === 'relatedEntity' || kind === 'alias' ? dataClasses.value.get(type) : undefined

/** Returns true if an attribute leads to many entities. */
export const isCollection = (attribute: Attribute): boolean =>
  attribute.kind === 'relatedEntities' || (attribute.kind === 'alias' && targetOf(attribute) !== undefined)

/** Loads an entity without collections, and with labels of linked entities. Long values are links with an excerpt. */
export async function loadEntity(dataClass: DataClass, key: string, signal?: AbortSignal): Promise<LoadedEntity> {
  const links = dataClass.attributes.filter(each => !isCollection(each) && linkedClass(each)).map(pathWithLabel)
  const $attributes = ['*', ...links].join(',')
  const { answer: entity, body } = await readWithin(BRIEF_BYTES, $brief =>
    readWithHead<Entity>(entityPath(dataClass.name, key), { $attributes, $brief }, signal, MAX_BYTES),
  )
  const large = dataClass.attributes.filter(({ name }) => beginningOf(entity[name]) !== undefined)
  return { entity, json: membersOf(body), large: new Set(large.map(({ name }) => name)) }
}

/** Tries one bound after another, until the answer is small enough. */
async function readWithin<Answer>(
  bounds: readonly number[],
  load: (bytes: number) => Promise<Answer>,
): Promise<Answer> {
  const [bytes = 0, ...smaller] = bounds
  try {
    return await load(bytes)
  } catch (error) {
    if (!(error instanceof AnswerTooLarge) || smaller.length === 0) throw error
    return readWithin(smaller, load)
  }
}

const pathWithLabel = (attribute: Attribute): string => {
  const target = linkedClass(attribute)
  return target ? `${attribute.name}.${labelOf(target).name}` : attribute.name
}

/** Loads the value of one attribute, whatever its size. */
export async function loadValue(dataClass: DataClass, key: string, name: string): Promise<unknown> {
  return (await ask<Entity>(entityPath(dataClass.name, key), { $attributes: name }))[name]
}

/** As {@link loadValue}, as JSON. */
export async function loadJson(dataClass: DataClass, key: string, name: string): Promise<string> {
  const { body } = await readWithHead(entityPath(dataClass.name, key), { $attributes: name })
  return membersOf(body).get(name) ?? 'null'
}

export interface Preview {
  readonly __COUNT: number
  readonly __ENTITIES: readonly Entity[]
}

/** Loads the counts of the collections of an entity, with their first entities. */
export async function loadCollections(
  dataClass: DataClass,
  key: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Preview>> {
  const previews = new Map<string, Preview>()
  const collections = dataClass.attributes.filter(each => isCollection(each) && targetOf(each))
  for (let from = 0; from < collections.length; from += RELATIONS_AT_ONCE) {
    const some = collections.slice(from, from + RELATIONS_AT_ONCE)
    const entity = await read<Entity>(
      entityPath(dataClass.name, key),
      {
        $attributes: some.map(each => `${each.name}.${labelOf(targetOf(each)!).name}`).join(','),
        $expand: some.map(({ name }) => `${name}:${PREVIEWED}`).join(','),
      },
      signal,
      MAX_BYTES,
    )
    for (const { name } of some) {
      const value = entity[name] as Preview | undefined
      if (value?.__ENTITIES) previews.set(name, value)
    }
  }
  return previews
}

/** Key and known values of the entity to which a link leads; undefined for null. */
export function linkedEntity(
  value: unknown,
): { readonly key: string; readonly values: Entity | undefined } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { __KEY, __deferred } = value as { __KEY?: string; __deferred?: { __KEY?: string } }
  if (__KEY !== undefined) return { key: String(__KEY), values: value as Entity }
  return __deferred?.__KEY === undefined ? undefined : { key: String(__deferred.__KEY), values: undefined }
}

/** Text by which users recognise an entity. */
export function labelText(dataClass: DataClass, entity: Entity | undefined, key: string): string {
  const value = entity?.[labelOf(dataClass).name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) || key : key
}

/** Address of a stored image or blob. */
export function storedAt(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as { __deferred?: { uri?: string } }).__deferred?.uri
}
