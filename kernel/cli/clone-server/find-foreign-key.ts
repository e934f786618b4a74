import type { SourceAttribute } from './read-catalog.ts'

/** First entities of a dataclass. */
export interface Samples {
  readonly entities: readonly Readonly<Record<string, unknown>>[]
}

/** Different keys after which one attribute that has them all cannot be a coincidence, whatever its name. */
const CONVINCING_KEYS = 20

/**
 * Finds the attribute with the foreign key of a relation: the one that the catalog names, or one whose values match the keys of the
 * relation.
 * @param candidates attributes with the type of the key
 * @param key key of the dataclass itself
 * @returns undefined if no attribute is certain
 */
export function findForeignKey(
  relation: SourceAttribute,
  candidates: readonly string[],
  key: string,
  { entities }: Samples,
): string | undefined {
  const fitting = candidates.filter(name => entities.every(entity => agrees(entity, relation.name, name)))
  // Some catalogs name the key of the other dataclass here, which may have the name of an attribute by chance.
  const declaredName = fitting.find(name => name === relation.foreignKey)
  const keys = new Set(entities.map(entity => keyOf(entity[relation.name])).filter(key => key !== undefined))
  const namesakes = fitting.filter(name => isNamedAfter(name, relation))
  if (
    declaredName !== undefined &&
    (keys.size > 0 || (declaredName !== key && namesakes.every(name => name === declaredName)))
  )
    return declaredName
  if (namesakes.length === 1) return namesakes[0]
  return keys.size >= CONVINCING_KEYS && fitting.length === 1 ? fitting[0] : undefined
}

/** Key of a related entity, as a string; undefined for null. */
export function keyOf(entity: unknown): string | undefined {
  if (typeof entity !== 'object' || entity === null) return undefined
  const { __deferred, __KEY = (__deferred as { __KEY?: unknown } | undefined)?.__KEY } = entity as Record<
    string,
    unknown
  >
  return __KEY === undefined || __KEY === null ? undefined : String(__KEY)
}

/** True if an entity fits the foreign key: a value without a related entity is a key that no entity has. */
function agrees(entity: Readonly<Record<string, unknown>>, relation: string, attribute: string): boolean {
  const key = keyOf(entity[relation])
  const value = entity[attribute]
  return key === undefined || (value != null && String(value).toUpperCase() === key.toUpperCase())
}

function isNamedAfter(name: string, { name: relation, type }: SourceAttribute): boolean {
  const normalize = (text: string): string => text.toLowerCase().replaceAll('_', '')
  return [relation, type].some(each => each !== '' && normalize(name).includes(normalize(each)))
}
