/** Hints for an agent whose answer says less than it seems to. */

/** A text that is wrapped in the wildcards of SQL or of file names. */
const FOREIGN_WILDCARD = /^[%*]|[%*]$/
const QUOTED = /"([^"]*)"|'([^']*)'/g

interface Asked {
  readonly filter?: string | undefined
  readonly params?: readonly unknown[] | undefined
}

/** Hints about a filter. @param count number of entities that it has found */
export function filterHints({ filter = '', params = [] }: Asked, count: number): string[] {
  const quoted = [...filter.matchAll(QUOTED)].map(([, double, single]) => double ?? single)
  const isForeign = [...quoted, ...params].some(each => typeof each === 'string' && FOREIGN_WILDCARD.test(each))
  const outside = filter.replaceAll(QUOTED, '')
  const isMixed = /\band\b/i.test(outside) && /\bor\b/i.test(outside) && !outside.includes('(')
  return [
    ...(count === 0 && isForeign ? ['the wildcard in values is @: name = "@land@"'] : []),
    ...(isMixed ? ['the filter was read from left to right: and, or have no precedence, write parentheses'] : []),
  ]
}

/** Hints about lists of related entities that the server has cut. @param value an answer of the protocol */
export function cutHints(value: unknown): string[] {
  const cut = new Map<string, { readonly shown: number; readonly count: number }>()
  visit(value, '')
  return [...cut].map(
    ([name, { shown, count }]) =>
      `${name} shows ${shown} of ${count}: query or aggregate the class behind it for the others`,
  )

  function visit(each: unknown, name: string): void {
    if (typeof each !== 'object' || each === null) return
    const { __COUNT: count, __ENTITIES: entities } = each as { __COUNT?: number; __ENTITIES?: readonly unknown[] }
    const shown = entities?.length ?? 0
    if (name !== '' && entities && count !== undefined && count > Math.max(shown, cut.get(name)?.count ?? 0))
      cut.set(name, { shown, count })
    for (const [member, inner] of Object.entries(each)) visit(inner, entities || Array.isArray(each) ? name : member)
  }
}

/** Names of other interfaces, with those of the tools here. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  limit: 'top',
  offset: 'skip',
  where: 'filter',
  select: 'attributes',
  fields: 'attributes',
  expand: 'attributes, such as "country.name"',
  sort: 'orderBy',
  order: 'orderBy',
  entities: 'save',
  keys: 'key',
  id: 'key',
  groupBy: 'the function values; there are no other groups, ask with a filter for each',
  avg: 'average',
  mean: 'average',
  distinct: 'values',
}

/** Hints for arguments, and for a value of `function`, that other interfaces have. */
export const nameHints = (given: Readonly<Record<string, unknown>>): string[] =>
  [...Object.keys(given), given.function].flatMap(name => {
    const own = typeof name === 'string' && Object.hasOwn(OWN_NAMES, name) ? OWN_NAMES[name] : undefined
    return own === undefined ? [] : [`instead of ${name} there is ${own}`]
  })
