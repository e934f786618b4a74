/** Hints for an agent whose answer says less than it seems to. */
import type { DataClass, View } from '../../engine/index.ts'

/** A text that is wrapped in the wildcards of SQL or of file names. */
const FOREIGN_WILDCARD = /^[%*]|[%*]$/
const QUOTED = /"([^"]*)"|'([^']*)'/g

interface Asked {
  readonly filter?: string | undefined
  readonly params?: readonly unknown[] | undefined
}

/** Hints about a filter. @param count number of entities that it has found */
export function filterHints({ filter = '', params = [] }: Asked, count: number): string[] {
  const quotedValues = [...filter.matchAll(QUOTED)].map(([, double, single]) => double ?? single)
  const isForeign = [...quotedValues, ...params].some(each => typeof each === 'string' && FOREIGN_WILDCARD.test(each))
  const outside = filter.replaceAll(QUOTED, '')
  const isMixed = /\band\b/i.test(outside) && /\bor\b/i.test(outside) && !outside.includes('(')
  return [
    ...(count === 0 && isForeign ? ['the wildcard in values is @: name = "@land@"'] : []),
    ...(isMixed ? ['the filter was read from left to right: and, or have no precedence, write parentheses'] : []),
  ]
}

/**
 * Hints about lists of related entities that the server has cut. Values of object attributes are not examined, so that their texts never
 * appear outside the data.
 * @param entities of an answer of the protocol
 */
export function cutHints(entities: readonly object[], dataClass: DataClass, view: View): string[] {
  const cut = new Map<string, { readonly shownCount: number; readonly count: number }>()
  visit(entities, dataClass)
  return [...cut].map(
    ([name, { shownCount, count }]) =>
      `${name} shows ${shownCount} of ${count}: query or aggregate the class behind it for the others`,
  )

  function visit(rows: readonly object[], of: DataClass): void {
    const relations = view.attributes(of).flatMap(each => {
      const end = each.kind === 'alias' ? each.target : each
      return end.kind === 'relatedEntity' || end.kind === 'relatedEntities' ? [[each.name, end.target] as const] : []
    })
    for (const row of rows) for (const [name, target] of relations) visitRelated((row as Members)[name], name, target)
  }

  function visitRelated(value: Members[string], name: string, target: DataClass): void {
    if (!value) return
    const { __COUNT: count, __ENTITIES: rows } = value as Partial<Collection>
    if (rows && count !== undefined && count > Math.max(rows.length, cut.get(name)?.count ?? 0))
      cut.set(name, { shownCount: rows.length, count })
    visit(rows ?? [value], target)
  }
}

type Members = Readonly<Record<string, object | null | undefined>>

interface Collection {
  readonly __COUNT: number
  readonly __ENTITIES: readonly object[]
}

/** The first hints that fit into an answer in addition to its data; undefined if none does. */
export function hintOf(hints: readonly string[]): string | undefined {
  let text = ''
  for (const each of hints) {
    const longer = text === '' ? each : `${text}; ${each}`
    if (Buffer.byteLength(longer) <= MAX_HINT_BYTES) text = longer
  }
  return text || undefined
}

const MAX_HINT_BYTES = 640

/** Parameter names of other interfaces, with the corresponding names of these tools. */
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

/** Hints for arguments, and for a value of `function`, that only other interfaces have. */
export const nameHints = (input: Readonly<Record<string, unknown>>): string[] =>
  [...Object.keys(input), input.function].flatMap(name => {
    const ownName = typeof name === 'string' && Object.hasOwn(OWN_NAMES, name) ? OWN_NAMES[name] : undefined
    return ownName === undefined ? [] : [`instead of ${name} there is ${ownName}`]
  })
