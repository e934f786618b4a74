interface Link {
  readonly uri?: string
  readonly brief?: string
  readonly __KEY?: string
  readonly image?: boolean
}

/**
 * Reduces an entity to what an agent needs: its key, its values and its expanded relations.
 * @param withStamps keeps stamps, which a save needs
 */
export function simplify(value: unknown, withStamps: boolean): unknown {
  // A number with too many digits for a double is a String object.
  if (typeof value !== 'object' || value === null || value instanceof String) return value
  // Objects that are values may have such members, too.
  if ('__deferred' in value && typeof value.__deferred === 'object' && value.__deferred)
    return replaceLink(value.__deferred)
  if ('__ENTITIES' in value && Array.isArray(value.__ENTITIES))
    return value.__ENTITIES.map(each => simplify(each, withStamps))
  if (Array.isArray(value)) return value.map(each => simplify(each, withStamps))
  const isEntity = '__KEY' in value
  const members = Object.entries(value).filter(([name]) => !isEntity || isShown(name, withStamps))
  return Object.fromEntries(members.map(([name, each]) => [name, simplify(each, withStamps)]))
}

const isShown = (name: string, withStamps: boolean): boolean =>
  !name.startsWith('__') || name === '__KEY' || name === '__SCORE' || (withStamps && name === '__STAMP')

/** Replacement of a link: the beginning of a long value, the key of a related entity, or a hint at an image. */
function replaceLink({ brief, image, __KEY, uri }: Link): unknown {
  if (brief !== undefined) return `${brief}…`
  if (image) return '(an image: ask the tool image)'
  if (__KEY !== undefined) return __KEY
  return uri?.includes('$binary') ? '(bytes)' : '(a relation: name attributes behind it)'
}
