import { type JsonSchema, mapSchema } from '../../engine/index.ts'
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
  /** Schemas by their `$id`; schemas of the operations are added. */
  readonly schemas: Record<string, JsonSchema>
}

/** Paths whose operations have no id of others: a dataclass may have the name with which the ids of a plugin begin. */
export function withOwnIds(paths: Paths, others: Readonly<Record<string, object>>): Paths {
  const otherIds = new Set(
    Object.values(others).flatMap(item =>
      Object.values(item as Paths[string]).map(each => (each as Identified).operationId),
    ),
  )
  const uniqueId = (id: string): string => (otherIds.has(id) ? uniqueId(`${id}.`) : id)
  return mapValues(paths, item =>
    mapValues(item, operation => {
      const { operationId } = operation as Identified
      return operationId === undefined ? operation : { ...operation, operationId: uniqueId(operationId) }
    }),
  )
}

interface Identified {
  readonly operationId?: string
}

const mapValues = <T>(all: Record<string, T>, change: (each: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]))

/**
 * The part of a document without references to schemas that the document does not have, since the caller may not see them or nothing
 * registers them: any value is right there. Tools follow references in examples, too.
 */
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
  { id, doc, path = {}, body, oneOf, answers = { 200: {} } }: OperationSpec,
  tag: string,
  surroundings: Surroundings,
): object {
  const inPath = Object.entries(path).map(([name, { doc: description, schema, example }]) => {
    const isDataClass = schema.format === 'dataclass'
    const exampleValue = isDataClass ? surroundings.dataClass : example
    return {
      name,
      in: 'path',
      required: true,
      ...(description !== undefined && { description }),
      schema: isDataClass ? { type: 'string' } : schema,
      ...(exampleValue !== undefined && { example: exampleValue }),
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
    ...(oneOf && { description: `Needs one of ${oneOf.map(each => `\`${each}\``).join(', ')}.`, 'x-one-of': oneOf }),
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

/** The schema with a reference in place of each part that has an `$id`; these parts are added to `schemaParts`. */
const withRefs = (schema: JsonSchema, schemaParts: Record<string, JsonSchema>): JsonSchema =>
  mapSchema(schema, part => {
    const { $id, ...members } = part
    if (typeof $id !== 'string') return part
    schemaParts[$id] = members
    return schemaRef($id)
  }) as JsonSchema
