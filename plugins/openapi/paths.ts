import type { Attribute, DataClass, JsonSchema, View } from '../../engine/index.ts'
import type { DataOperation } from '../../kernel/api.ts'
import { componentName, DONE, FAILURE, jsonContent, ok, partRef, ref, schemaRef } from './names.ts'
import type { Parameters } from './parameters.ts'
import { comparable, sampleOf } from './samples.ts'
import { isSaved, relatedBy } from './schemas.ts'

type Paths = Record<string, object>

const of = (...names: string[]): JsonSchema[] => names.map(name => ref('parameters', `rest.${name}`))
const sharedSchema = (name: string): JsonSchema => schemaRef(`rest.${name}`)
const LINES = { 'text/csv': { schema: { type: 'string' } }, 'application/x-ndjson': { schema: { type: 'string' } } }
const BYTES = { schema: { type: 'string', format: 'binary' } }

/** Parameters of the paths of a dataclass. */
export function pathParametersOf(dataClass: DataClass, view: View): Record<string, object> {
  const name = componentName(dataClass.name)
  const [first = dataClass.key] = comparable(dataClass, view)
  const example = view.shows(dataClass.key) ? sampleOf(dataClass.key) : undefined
  return {
    [`${name}.key`]: {
      name: 'key',
      in: 'path',
      required: true,
      description: `The primary key, in quotes if it is empty or begins with a quote.`,
      schema: { type: ['string', 'integer'] },
      example: String(example ?? 1),
    },
    [`${name}.list`]: {
      name: 'attributes',
      in: 'path',
      required: true,
      description: 'Attributes, separated by commas; also attributes of related entities, and properties of objects.',
      schema: { type: 'string' },
      example: view.shows(first) ? first.name : '*',
    },
  }
}

/** Addresses of the data of a dataclass, limited to the rights of the view and to operations that plugins answer. */
export function pathsOf(dataClass: DataClass, view: View, parameters: Parameters): Paths {
  const { verbs, parts } = parameters.registrations
  const name = componentName(dataClass.name)
  const { name: title } = dataClass
  const ownParameters = (...names: string[]): JsonSchema[] => names.map(each => ref('parameters', `${name}.${each}`))
  const on = (...operations: DataOperation[]): JsonSchema[] => [
    ...parameters.on(operations, dataClass),
    ...parameters.method(operations),
  ]
  const operation: Operation = (id, summary, { parameters: operationParameters = [], ...more }) => ({
    operationId: `${title}.${id}`,
    summary,
    tags: [title],
    ...(operationParameters.length > 0 && { parameters: operationParameters }),
    ...more,
  })
  const get = (id: string, summary: string, more: Described): object | undefined =>
    verbs.has('GET') ? { get: operation(id, summary, more) } : undefined
  const answer = (part: 'collection' | 'values'): object => ({
    '200': ref('responses', `${name}.${part}`),
    ...FAILURE,
  })
  const maySave = verbs.has('POST') && isSaved(dataClass, view)
  const mayDrop = verbs.has('DELETE') && view.may('drop', dataClass)
  /** The verb DELETE, and POST with the equivalent `$method`. */
  const drop = (
    id: string,
    summary: string,
    parameterList: JsonSchema[] = [],
  ): { delete: object; post: object } | undefined =>
    mayDrop
      ? {
          delete: operation(id, summary, { parameters: parameterList, responses: DONE }),
          post: operation(`${id}.byMethod`, summary, {
            parameters: [...parameterList, ...parameters.method(['delete'], true)],
            responses: DONE,
          }),
        }
      : undefined
  const dropOne = drop('delete', 'Deletes the entity', of('ifMatch'))
  const paths: Record<string, object | undefined> = {
    [`/${title}`]: {
      ...get('list', `Entities of ${title}`, { parameters: on('list'), responses: answer('collection') }),
      ...(parameters.has('$filter') && drop('deleteSelection', 'Deletes the selected entities', on('deleteSelection'))),
      ...(maySave && { post: save(dataClass, operation, mayDrop, on) }),
    },
    [`/${title}/{attributes}`]: get('listAttributes', `Some attributes of ${title}, aggregates, different values`, {
      parameters: [...ownParameters('list'), ...on('listValues')],
      responses: answer('values'),
    }),
    ...(parts.has('$query') && {
      [`/${title}/$query`]: {
        post: operation('query', 'Entities, with the parameters in the body', {
          requestBody: ref('requestBodies', 'Query'),
          responses: answer('collection'),
        }),
      },
      [`/${title}/$query/{attributes}`]: {
        post: operation('queryAttributes', 'Values, with the parameters in the body', {
          parameters: ownParameters('list'),
          requestBody: ref('requestBodies', 'ValuesQuery'),
          responses: answer('values'),
        }),
      },
    }),
    [`/${title}({key})`]: {
      parameters: ownParameters('key'),
      ...get('get', `One entity of ${title}`, {
        parameters: [...on('get'), ...of('ifNoneMatch')],
        responses: oneOf(title),
      }),
      ...dropOne,
      ...(parameters.hasCommand('$lock') && {
        post: mayDrop
          ? operation('lockOrDelete', 'Locks, unlocks or deletes the entity', {
              parameters: [...parameters.optional(['lock']), ...parameters.method(['delete'])],
              'x-one-of': ['$lock', '$method'],
              responses: ok({ anyOf: [LOCKED, sharedSchema('Ok')] }),
            })
          : operation('lock', 'Locks or unlocks the entity for the session', {
              parameters: on('lock'),
              responses: ok(LOCKED),
            }),
      }),
    },
    [`/${title}({key},{keys})`]: {
      parameters: [...ownParameters('key'), ...of('keys')],
      ...get('getSeveral', `Entities of ${title} by their keys`, {
        parameters: on('getSeveral'),
        responses: answer('collection'),
      }),
      ...(mayDrop && {
        delete: operation('deleteSeveral', 'Deletes the entities', {
          parameters: on('deleteSeveral'),
          responses: DONE,
        }),
      }),
    },
    [`/${title}({key})/{attributes}`]: {
      parameters: ownParameters('key', 'list'),
      ...get('getAttributes', 'Some attributes of one entity', {
        parameters: [...on('getValues'), ...of('ifNoneMatch')],
        responses: oneOf(title),
      }),
    },
    ...(parts.has('$entityset') && {
      [`/${title}/$entityset/{id}`]: {
        parameters: of('set'),
        ...get('openSet', 'Entities of an entity set', { parameters: on('openSet'), responses: answer('values') }),
        ...drop('deleteSet', 'Deletes the entities of an entity set', on('deleteSet')),
      },
    }),
  }
  for (const attribute of view.attributes(dataClass))
    Object.assign(paths, attributePaths(attribute, view, { parameters, operation, ownParameters, on, get }))
  return withOperations(paths)
}

/** Paths that have an operation. */
const withOperations = (paths: Record<string, object | undefined>): Paths =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      item && Object.keys(item).some(name => name !== 'parameters') ? [[path, item]] : [],
    ),
  )

/** Responses with one entity. */
const oneOf = (dataClass: string): object => ({
  '200': ref('responses', `${componentName(dataClass)}.entity`),
  '304': NOT_MODIFIED,
  ...FAILURE,
})

const NOT_MODIFIED = ref('responses', 'NotModified')
const LOCKED: JsonSchema = {
  type: 'object',
  properties: { result: { type: 'boolean' }, __STATUS: sharedSchema('Status') },
  required: ['result', '__STATUS'],
}
interface Described {
  readonly parameters?: readonly object[]
  readonly [name: string]: unknown
}
type Operation = (id: string, summary: string, more: Described) => object

/** Responses with an entity, with a collection, with any form of them, and with the values of aggregates, `$distinct` and combined sets. */
export function responsesOf({ name }: DataClass): Record<string, object> {
  const description = `Entities of ${name}.`
  const values = { type: ['number', 'string', 'boolean', 'null', 'array', 'object'], additionalProperties: true }
  const componentPrefix = componentName(name)
  return {
    [`${componentPrefix}.entity`]: {
      description: `One entity of ${name}.`,
      headers: { ETag: ref('headers', 'ETag') },
      content: jsonContent(partRef(name)),
    },
    [`${componentPrefix}.collection`]: { description, content: jsonContent(partRef(name, '.collection')) },
    [`${componentPrefix}.values`]: {
      description,
      content: { ...jsonContent({ anyOf: [partRef(name, '.selection'), values] }), ...LINES },
    },
  }
}

function save(
  { name }: DataClass,
  operation: Operation,
  mayDrop: boolean,
  on: (...operations: DataOperation[]) => JsonSchema[],
): object {
  const one = partRef(name, '.save')
  const { '200': savedResponse } = ok(partRef(name, '.saved')) as { 200: object }
  const failureSchema = { anyOf: [partRef(name, '.saved'), sharedSchema('Errors')] }
  return operation('save', `Creates and changes entities${mayDrop ? ', or deletes them' : ''}`, {
    parameters: [...on('save', ...(mayDrop ? (['delete'] as const) : [])), ...of('ifMatch')],
    requestBody: { required: !mayDrop, content: jsonContent({ anyOf: [one, { type: 'array', items: one }] }) },
    responses: {
      '200': savedResponse,
      default: {
        description: 'An entity was not saved: it has `__STATUS` and `__ERROR`. Or no save was tried.',
        content: jsonContent(failureSchema),
      },
    },
  })
}

interface Makers {
  readonly parameters: Parameters
  readonly operation: Operation
  readonly ownParameters: (...names: string[]) => JsonSchema[]
  readonly on: (...operations: DataOperation[]) => JsonSchema[]
  readonly get: (id: string, summary: string, more: Described) => object | undefined
}

/** Addresses of a relation, of an image, of a blob, and of entities by a unique attribute. */
function attributePaths(attribute: Attribute, view: View, makers: Makers): Record<string, object | undefined> {
  const { dataClass, name } = attribute
  const { ownParameters, on, get } = makers
  const at = `/${dataClass.name}({key})/${name}`
  const relation = relatedBy(attribute)
  if (relation) {
    const { target, isMany } = relation
    if (!view.shows(target)) return {}
    return { [at]: { parameters: ownParameters('key'), ...relatedGet(attribute, target, isMany, makers) } }
  }
  if (attribute.kind !== 'storage') return {}
  if (attribute.type === 'image' || attribute.type === 'blob') {
    return { [at]: { parameters: ownParameters('key'), ...binaryOperations(attribute, view, makers) } }
  }
  if (!attribute.unique || attribute === dataClass.key) return {}
  const example = sampleOf(attribute)
  const value = {
    name: 'value',
    in: 'path',
    required: true,
    description: `Value of ${name}.`,
    schema: { type: 'string' },
    ...(example !== undefined && { example: String(example) }),
  }
  return {
    [`/${dataClass.name}:${name}({value})`]: {
      parameters: [value],
      ...get(`by.${name}`, `One entity by its ${name}`, {
        parameters: [...on('getBy'), ...of('ifNoneMatch')],
        responses: oneOf(dataClass.name),
      }),
    },
  }
}

function relatedGet(
  { dataClass, name }: Attribute,
  target: DataClass,
  isMany: boolean,
  { on, get, parameters }: Makers,
) {
  if (!parameters.has('$expand')) return undefined
  const expand = {
    name: '$expand',
    in: 'query',
    required: true,
    description: 'The name of the relation: the answer has related entities instead of the link to them.',
    schema: { type: 'string' },
    example: name,
  }
  const collection = isMany ? [partRef(target.name, '.collection')] : []
  const entity = partRef(dataClass.name)
  return get(`related.${name}`, `${isMany ? 'Entities' : 'The entity'} of ${target.name} at the end of ${name}`, {
    parameters: [expand, ...(isMany ? on('related').filter(each => parameters.nameOf(each) !== '$expand') : [])],
    responses: ok(isMany ? { anyOf: [...collection, entity] } : entity),
  })
}

function binaryOperations(
  attribute: Attribute & { kind: 'storage' },
  view: View,
  { parameters, operation, on }: Makers,
): object {
  const { dataClass, name } = attribute
  const isImage = attribute.type === 'image'
  const bytes = { [isImage ? 'image/*' : 'application/octet-stream']: BYTES }
  const isWritable =
    parameters.registrations.binaries.has('PUT') &&
    view.may('update', dataClass) &&
    view.may('update', dataClass, attribute) &&
    !attribute.readOnly
  return {
    ...(parameters.hasCommand(isImage ? '$imageformat' : '$binary') && {
      get: operation(`bytes.${name}`, `Bytes of ${name}`, {
        parameters: on(isImage ? 'image' : 'blob'),
        responses: {
          '200': { description: 'The bytes; empty if there are none.', content: bytes },
          '206': { description: 'The part that `Range` requests.', content: bytes },
          '304': NOT_MODIFIED,
          '416': { description: 'The requested part does not exist.' },
          ...FAILURE,
        },
      }),
    }),
    ...(isWritable && {
      put: operation(`put.${name}`, `Replaces ${name}`, {
        parameters: [...on(isImage ? 'putImage' : 'putBlob'), ...of('ifMatch')],
        requestBody: { required: true, content: bytes },
        responses: DONE,
      }),
      delete: operation(`clear.${name}`, `Removes ${name}`, {
        parameters: [...on(isImage ? 'clearImage' : 'clearBlob'), ...of('ifMatch')],
        responses: DONE,
      }),
    }),
  }
}
