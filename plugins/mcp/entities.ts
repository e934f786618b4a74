/** Reads entities, for tools whose answers contain entities. */
import { Type } from '@sinclair/typebox'
import { type DeclaredParameter, type Registered, type RestRequest, SELECTIONS, type Static } from '../../kernel/api.ts'
import { answerOf, fitting, type ToolResult } from './answer.ts'
import { cutHints, filterHints, hintOf } from './hints.ts'
import { jsonOf, nameIn } from './ask.ts'
import { simplify } from './plain.ts'
import type { ToolContext } from './tool.ts'
import { refusal } from './tool-error.ts'

const TEXT_BYTES = 300

/** Input members that select entities of a dataclass. */
export const SELECTION = {
  class: Type.String({ minLength: 1, maxLength: 200 }),
  filter: Type.Optional(Type.String({ maxLength: 20_000, description: 'name = :1 and country.population > :2' })),
  params: Type.Optional(
    Type.Array(Type.Unknown(), { maxItems: 1_000, description: 'values of :1, :2 …; exact numbers as strings' }),
  ),
}

/** Input members that define which parts of entities are shown. */
export const SHOWN = {
  attributes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      maxItems: 100,
      description: 'names and paths: ["name", "country.name"]; by default all values',
    }),
  ),
  top: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'default 20' })),
  textBytes: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 10_000, description: `longer texts are cut, default ${TEXT_BYTES}` }),
  ),
}

export const PAGE = { ...SHOWN, skip: Type.Optional(Type.Integer({ minimum: 0 })) }

const READ = Type.Object({ ...SELECTION, ...PAGE })

interface Entities extends Omit<Static<typeof READ>, 'attributes'> {
  readonly attributes?: readonly string[] | undefined
  readonly orderBy?: string | undefined
  /** Hint for an answer without entities. */
  readonly hintForNone?: string | undefined
}

interface Collection {
  readonly __COUNT: number
  readonly __FIRST: number
  readonly __ENTITIES: readonly object[]
}

/** A page with as many entities as fit, with a hint for continuing. @throws {ToolError} */
export async function showEntities(
  query: Entities,
  { ask, pluginValues, request, mayWrite }: ToolContext,
): Promise<ToolResult> {
  const { class: dataClass, attributes = valuesOf(dataClass, request) } = query
  const answer = await ask({
    path: nameIn(dataClass),
    parameters: {
      ...pluginValues,
      ...selectionOf(query),
      orderby: query.orderBy,
      ...pageOf({ ...query, attributes }),
    },
  })
  const { __COUNT: count, __FIRST: first, __ENTITIES } = jsonOf(answer) as Collection
  const entities = __ENTITIES.map(each => simplify(each, mayWrite))
  const page = fitting(entities)
  if (page.length === 0 && entities.length > 0)
    throw refusal('one entity alone is too large; name fewer attributes, or a smaller textBytes')
  const next = first + page.length
  const narrower = page.length < entities.length ? ', or name fewer attributes' : ''
  const hints = [
    ...(next < count ? [`go on with skip: ${next}${narrower}; a filter or aggregate may say it sooner`] : []),
    ...(count === 0 && query.hintForNone ? [query.hintForNone] : []),
    ...filterHints(query, count),
    ...cutHints(__ENTITIES.slice(0, page.length), request.view.find(dataClass)!, request.view),
  ]
  return answerOf(page, { count, first, shown: page.length, hint: hintOf(hints) })
}

/**
 * Parameters of reads that plugins have added, of several declarations the first, unless a tool has a member of that name. Commands
 * answer with something else.
 * @param toolMembers members of the input of the tool
 */
export function pluginParameters({ declared }: Registered, toolMembers: object): DeclaredParameter[] {
  const parameters = new Map<string, DeclaredParameter>()
  for (const each of declared) {
    const { name, isBuiltIn, verbs, on = SELECTIONS } = each
    const isAdded = !isBuiltIn && !verbs && !Object.hasOwn(toolMembers, name.slice(1)) && on.includes('list')
    if (isAdded && !parameters.has(name)) parameters.set(name, each)
  }
  return [...parameters.values()]
}

/** The parameters that select entities. */
export const selectionOf = ({ filter, params }: Pick<Entities, 'filter' | 'params'>) => ({
  filter: filter || undefined,
  params: params && JSON.stringify(params),
})

/** The parameters that define which parts of the selected entities are shown. */
export const pageOf = ({ attributes = [], top = 20, skip, textBytes = TEXT_BYTES }: Partial<Entities>) => ({
  attributes: attributes.join(',') || undefined,
  top,
  skip,
  brief: textBytes,
})

/**
 * Names of the attributes that are shown by default: neither relations, images, blobs nor vectors. Empty for an unknown dataclass,
 * since the protocol will answer with the error.
 */
export function valuesOf(dataClass: string, { view }: RestRequest): readonly string[] {
  const classInView = view.find(dataClass)
  const attributes = classInView ? view.attributes(classInView) : []
  return attributes.flatMap(attribute => {
    const end = attribute.kind === 'alias' ? attribute.target : attribute
    const isValue = end.kind === 'storage' || end.kind === 'calculated'
    return isValue && !['image', 'blob', 'vector'].includes(end.type) ? attribute.name : []
  })
}
