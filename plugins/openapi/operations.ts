import type { JsonSchema } from '../../engine/index.ts'
import {
  type BodySpec,
  DONE,
  type OperationSpec,
  type Registered,
  type RouteSpec,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { ANY_OBJECT, FAILURE, ref, schemaRef } from './names.ts'
import type { Parameters } from './parameters.ts'

interface Surroundings {
  readonly parameters: Parameters
  readonly isAdministrator: boolean
  /** Name of a dataclass that the caller may see, for examples. */
  readonly dataClass: string | undefined
  /** Schemas with `$id`, by it; those of the operations are added. */
  readonly schemas: Record<string, JsonSchema>
}

/** Paths whose operations have no id of others: a dataclass may have the name with which the ids of a plugin begin. */
export function withOwnIds(paths: Paths, others: Readonly<Record<string, object>>): Paths {
  const used = new Set(
    Object.values(others).flatMap(item =>
      Object.values(item as Paths[string]).map(each => (each as Described).operationId),
    ),
  )
  const own = (id: string): string => (used.has(id) ? own(`${id}.`) : id)
  return mapped(paths, item =>
    mapped(item, operation => {
      const { operationId } = operation as Described
      return operationId === undefined ? operation : { ...operation, operationId: own(operationId) }
    }),
  )
}

interface Described {
  readonly operationId?: string
}

const mapped = <T>(all: Record<string, T>, change: (each: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]))

/** The part of a document, with a schema for any value in place of references to schemas that it has not: the caller may not see them. Tools follow references in examples, too. */
export function withKnownRefs<T>(part: T, isKnown: (schema: string) => boolean): T {
  const visit = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(visit)
    if (typeof each !== 'object' || each === null) return each
    const { $ref, ...others } = each as Record<string, unknown>
    const [, name] = typeof $ref === 'string' ? (/^#\/components\/schemas\/(.+)$/.exec($ref) ?? []) : []
    const isLost = name !== undefined && !isKnown(name)
    return Object.fromEntries(Object.entries(isLost ? others : each).map(([member, value]) => [member, visit(value)]))
  }
  return visit(part) as T
}

type Paths = Record<string, Record<string, object>>

/** Operations of services, by their paths below `/rest`. */
export function servicePaths(services: Registered['services'], surroundings: Surroundings): Paths {
  const paths: Paths = {}
  for (const [name, service] of services) {
    for (const [place, operation] of Object.entries(operationsOf(service, surroundings))) {
      const [verb, path] = place.split(' ') as [string, string]
      const at = `/${name}${path === '/' ? '' : path}`
      paths[at] = {
        ...paths[at],
        [verb.toLowerCase()]: operationOf(operation, service.tag ?? service.plugin, surroundings),
      }
    }
  }
  return paths
}

/**
 * Operations of routes, which are outside `/rest`. A dataclass of the same name has precedence.
 * @param restPath path of `/rest`
 */
export function routePaths({ routes, patterns }: Registered, restPath: string, surroundings: Surroundings): Paths {
  const servers = [{ url: restPath.slice(0, -'/rest'.length) || '/' }]
  const paths: Paths = {}
  for (const route of [...routes.values(), ...patterns.values()]) {
    const operations = Object.entries(operationsOf(route, surroundings))
    if (operations.length === 0) continue
    const item = operations.map(([verb, operation]) => [
      verb.toLowerCase(),
      operationOf(operation, route.tag ?? route.plugin, surroundings),
    ])
    paths[route.path.replaceAll(/(?<=\/)[:*](\w+)/g, '{$1}')] = { servers, ...Object.fromEntries(item) }
  }
  return paths
}

const operationsOf = (
  {
    administrators,
    shownToAdministrators,
    operations = {},
  }: Pick<ServiceSpec & RouteSpec, 'administrators' | 'shownToAdministrators' | 'operations'>,
  { isAdministrator }: Surroundings,
): Readonly<Record<string, OperationSpec>> =>
  (administrators || shownToAdministrators) && !isAdministrator ? {} : operations

/** An operation as a plugin describes it. */
export function operationOf(
  { id, doc, path = {}, body, answers = { 200: {} } }: OperationSpec,
  tag: string,
  surroundings: Surroundings,
): object {
  const inPath = Object.entries(path).map(([name, { doc: description, schema, example }]) => {
    const isDataClass = schema.format === 'dataclass'
    const shown = isDataClass ? surroundings.dataClass : example
    return {
      name,
      in: 'path',
      required: true,
      ...(description !== undefined && { description }),
      schema: isDataClass ? { type: 'string' } : schema,
      ...(shown !== undefined && { example: shown }),
    }
  })
  const parameters = [...inPath, ...surroundings.parameters.on([id])]
  const responses = Object.entries(answers).map(([status, answer]) => [
    status,
    answer === DONE
      ? ref('responses', 'Ok')
      : { description: answer.doc ?? 'The answer.', ...contentOf(answer, surroundings) },
  ])
  return {
    operationId: id,
    summary: doc,
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { ...(body.doc && { description: body.doc }), required: true, ...contentOf(body, surroundings) },
    }),
    responses: { ...Object.fromEntries(responses), ...(!('default' in answers) && FAILURE) },
  }
}

function contentOf(
  { schema = ANY_OBJECT, types = ['application/json'], example }: BodySpec,
  { schemas }: Surroundings,
): object {
  if (types.length === 0) return {}
  const media = { schema: withRefs(schema, schemas), ...(example !== undefined && { example }) }
  // Schemas describe JSON; other types are texts or bytes.
  const isJson = types.includes('application/json')
  const content = types.map(type => [
    type,
    isJson && type !== 'application/json' ? { schema: { type: 'string' } } : media,
  ])
  return { content: Object.fromEntries(content) }
}

/** Keywords with values in place of schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'example', 'examples'])
const BY_NAME: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas'])

/** The schema with a reference in place of each part that has an `$id`; these parts are added to `found`. */
function withRefs(schema: JsonSchema, found: Record<string, JsonSchema>): JsonSchema {
  /** Schemas by name, whose names are no keywords. */
  const visitAll = (parts: unknown): unknown =>
    typeof parts !== 'object' || parts === null || Array.isArray(parts)
      ? visit(parts)
      : Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, visit(value)]))
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit)
    if (typeof part !== 'object' || part === null) return part
    const { $id, ...own } = part as Record<string, unknown>
    const visited = Object.fromEntries(
      Object.entries(own).map(([name, value]) => [
        name,
        VALUES.has(name) ? value : BY_NAME.has(name) ? visitAll(value) : visit(value),
      ]),
    )
    if (typeof $id !== 'string') return visited
    found[$id] = visited
    return schemaRef($id)
  }
  return visit(schema) as JsonSchema
}
