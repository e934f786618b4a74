import type { Attribute, DataClass, JsonSchema, View } from '../../engine/index.ts'
import { componentName, DONE, FAILURE, jsonContent, ok, partRef, ref, schemaRef } from './names.ts'
import { comparable, conditionOn, sampleOf } from './samples.ts'
import { isSaved, relatedBy } from './schemas.ts'
import { releaseSets } from './services.ts'

type Paths = Record<string, object>

const parameters = (...names: string[]): JsonSchema[] => names.map(name => ref('parameters', name))
const shared = (name: string): JsonSchema => schemaRef(`rest.${name}`)
const LINES = { 'text/csv': { schema: { type: 'string' } }, 'application/x-ndjson': { schema: { type: 'string' } } }
const BYTES = { schema: { type: 'string', format: 'binary' } }

/** Parameters of a dataclass, with examples that use its attributes. */
export function parametersOf(dataClass: DataClass, view: View): Record<string, object> {
  const name = componentName(dataClass.name)
  const [first = dataClass.key] = comparable(dataClass, view)
  const isKeyShown = view.shows(dataClass.key)
  const relation = view.attributes(dataClass).find(each => each.kind === 'relatedEntity')
  const query = (of: string, description: string, example: string | undefined): object => ({
    name: `$${of}`,
    in: 'query',
    description,
    schema: { type: 'string' },
    ...(example !== undefined && { example }),
  })
  const condition = view.shows(first) ? conditionOn(first) : '__STAMP > 0'
  const list = view.shows(first) ? first.name : undefined
  const example = isKeyShown ? sampleOf(dataClass.key) : undefined
  return {
    [`${name}.filter`]: query('filter', 'Narrows the selection.', condition),
    [`${name}.deletion`]: {
      ...query('filter', 'What is deleted.', condition),
      required: true,
    },
    [`${name}.orderby`]: query(
      'orderby',
      'Order of the selection.',
      view.shows(first) ? `${first.name} desc` : '__KEY',
    ),
    [`${name}.attributes`]: query('attributes', 'Attributes of the answer: `name,relation.name,relation.*`.', list),
    [`${name}.expand`]: query(
      'expand',
      'Related entities in place of links: `relation,relation.relation`.',
      relation?.name,
    ),
    [`${name}.key`]: {
      name: 'key',
      in: 'path',
      required: true,
      description: `The primary key. In quotes when it is empty or begins with a quote.`,
      schema: { type: ['string', 'integer'] },
      example: String(example ?? 1),
    },
    [`${name}.list`]: {
      name: 'attributes',
      in: 'path',
      required: true,
      description: 'Attributes with commas between, also those of related entities and properties of objects.',
      schema: { type: 'string' },
      example: list ?? '*',
    },
  }
}

/**
 * Addresses of the data of a dataclass, within the rights of the view.
 * @param loads true if a plugin is loaded
 */
export function pathsOf(dataClass: DataClass, view: View, loads: (plugin: string) => boolean): Paths {
  const name = componentName(dataClass.name)
  const { name: title } = dataClass
  const own = (...names: string[]): JsonSchema[] => parameters(...names.map(each => `${name}.${each}`))
  const operation = (id: string, summary: string, more: object): object => ({
    operationId: `${title}.${id}`,
    summary,
    tags: [title],
    ...more,
  })
  const selected = own('filter', 'orderby')
  const paged = parameters('params', 'top', 'limit', 'skip')
  const shape = [...own('expand'), ...parameters('exact', 'prettyprint')]
  /** They make the answer anything but a collection. */
  const form = parameters('asArray', 'format', 'brief')
  const plan = parameters('queryplan', 'querypath')
  const keep = parameters('keep', 'timeout', 'savedfilter', 'savedorderby')
  const answer = (part: 'collection' | 'values'): object => ({
    '200': ref('responses', `${name}.${part}`),
    ...FAILURE,
  })
  const list = [...selected, ...paged, ...shape]
  const maySave = isSaved(dataClass, view) && loads('update')
  const mayDrop = view.may('drop', dataClass) && loads('delete')
  /** The verb DELETE, and POST with the equivalent `$method`. */
  const drop = (id: string, summary: string, ...more: JsonSchema[]): { delete: object; post: object } | undefined =>
    mayDrop
      ? {
          delete: operation(id, summary, { ...(more.length > 0 && { parameters: more }), responses: DONE }),
          post: operation(`${id}.byMethod`, summary, {
            parameters: [...more, ...parameters('mustDrop')],
            responses: DONE,
          }),
        }
      : undefined
  const dropOne = drop('delete', 'Deletes the entity', ...parameters('ifMatch'))
  const paths: Paths = {
    [`/${title}`]: {
      get: operation('list', `Entities of ${title}`, {
        parameters: [...list, ...own('attributes'), ...parameters('prettyformatting'), ...plan, ...keep],
        responses: answer('collection'),
      }),
      ...drop(
        'deleteSelection',
        'Deletes what the filter selects',
        ...own('deletion'),
        ...parameters('params'),
        ...ATOMIC,
      ),
      ...(maySave && { post: save(dataClass, operation, mayDrop) }),
    },
    [`/${title}/{attributes}`]: {
      get: operation('listAttributes', `Some attributes of ${title}, aggregates, different values`, {
        parameters: [...own('list'), ...list, ...form, ...parameters('compute', 'distinct', 'counts')],
        responses: answer('values'),
      }),
    },
    [`/${title}/$query`]: {
      post: operation('query', 'Entities, with the parameters in the body', {
        requestBody: ref('requestBodies', 'Query'),
        responses: answer('collection'),
      }),
    },
    [`/${title}/$query/{attributes}`]: {
      post: operation(
        'queryAttributes',
        'Some attributes, aggregates, different values, with the parameters in the body',
        {
          parameters: own('list'),
          requestBody: ref('requestBodies', 'ValuesQuery'),
          responses: answer('values'),
        },
      ),
    },
    [`/${title}({key})`]: {
      parameters: own('key'),
      get: operation('get', `One entity of ${title}`, {
        parameters: [...own('attributes', 'expand'), ...parameters('prettyprint', 'ifNoneMatch')],
        responses: oneOf(title),
      }),
      ...dropOne,
      ...(loads('lock') && {
        post: mayDrop
          ? operation('lockOrDelete', 'Locks or unlocks the entity for the session, or deletes it', {
              parameters: parameters('lock', 'drop'),
              'x-one-of': ['$lock', '$method'],
              responses: ok({ anyOf: [LOCKED, shared('Ok')] }),
            })
          : operation('lock', 'Locks or unlocks the entity for the session', {
              parameters: parameters('mustLock'),
              responses: ok(LOCKED),
            }),
      }),
    },
    [`/${title}({key},{keys})`]: {
      parameters: [...own('key'), ...parameters('keys')],
      get: operation('getSeveral', `Entities of ${title} by their keys`, {
        parameters: [...own('orderby', 'attributes', 'expand'), ...parameters('keep')],
        responses: answer('collection'),
      }),
      ...(mayDrop && {
        delete: operation('deleteSeveral', 'Deletes the entities', { parameters: ATOMIC, responses: DONE }),
      }),
    },
    [`/${title}({key})/{attributes}`]: {
      parameters: own('key', 'list'),
      get: operation('getAttributes', 'Some attributes of one entity', {
        parameters: [...own('expand'), ...parameters('ifNoneMatch')],
        responses: oneOf(title),
      }),
    },
    [`/${title}/$entityset/{id}`]: {
      parameters: parameters('set'),
      get: operation('openSet', 'Entities of an entity set', {
        parameters: [
          ...[...list, ...form, ...own('attributes')],
          ...parameters(
            'clean',
            'logicOperator',
            'otherCollection',
            'refreshSet',
            'release',
            'timeout',
            'savedfilter',
            'savedorderby',
          ),
        ],
        responses: answer('values'),
      }),
      ...drop('deleteSet', 'Deletes the entities of an entity set', ...ATOMIC),
    },
    [`/${title}/$entityset/$release`]: releaseSets(`${title}.releaseSets`),
  }
  for (const attribute of view.attributes(dataClass))
    Object.assign(paths, attributePaths(attribute, view, operation, own))
  return paths
}

/** Responses with one entity. */
const oneOf = (dataClass: string): object => ({
  '200': ref('responses', `${componentName(dataClass)}.entity`),
  '304': NOT_MODIFIED,
  ...FAILURE,
})

const NOT_MODIFIED = ref('responses', 'NotModified')
const ATOMIC = parameters('atomic')
const LOCKED: JsonSchema = {
  type: 'object',
  properties: { result: { type: 'boolean' }, __STATUS: shared('Status') },
  required: ['result', '__STATUS'],
}
type Operation = (id: string, summary: string, more: object) => object

/** Responses with an entity, with a collection, and with any form of them and the values of aggregates, `$distinct` and combined sets. */
export function responsesOf({ name }: DataClass): Record<string, object> {
  const description = `Entities of ${name}.`
  const values = { type: ['number', 'string', 'boolean', 'null', 'array', 'object'], additionalProperties: true }
  const own = componentName(name)
  return {
    [`${own}.entity`]: {
      description: `One entity of ${name}.`,
      headers: { ETag: ref('headers', 'ETag') },
      content: jsonContent(partRef(name)),
    },
    [`${own}.collection`]: { description, content: jsonContent(partRef(name, '.collection')) },
    [`${own}.values`]: {
      description,
      content: { ...jsonContent({ anyOf: [partRef(name, '.selection'), values] }), ...LINES },
    },
  }
}

function save({ name }: DataClass, operation: Operation, mayDrop: boolean): object {
  const own = componentName(name)
  const one = partRef(name, '.save')
  const { '200': saved } = ok(partRef(name, '.saved')) as { 200: object }
  const failed = { anyOf: [partRef(name, '.saved'), shared('Errors')] }
  return operation('save', `Creates and changes entities${mayDrop ? ', or deletes them' : ''}`, {
    parameters: [
      ...parameters(mayDrop ? 'saveOrDrop' : 'save', ...(mayDrop ? ['dropFilter', 'dropParams'] : [])),
      ...parameters('atomic', 'atOnce', 'atonce', 'refresh', `${own}.expand`, 'asArray', 'ifMatch'),
    ],
    requestBody: { required: !mayDrop, content: jsonContent({ anyOf: [one, { type: 'array', items: one }] }) },
    responses: {
      '200': saved,
      default: {
        description: 'Something was not saved: it has `__STATUS` and `__ERROR`. Or nothing could be tried.',
        content: jsonContent(failed),
      },
    },
  })
}

/** Addresses of a relation, of an image, of a blob, and of entities by a unique attribute. */
function attributePaths(
  attribute: Attribute,
  view: View,
  operation: Operation,
  own: (...names: string[]) => JsonSchema[],
): Paths {
  const { dataClass, name } = attribute
  const at = `/${dataClass.name}({key})/${name}`
  const relation = relatedBy(attribute)
  if (relation) {
    const { target, isMany } = relation
    if (!view.shows(target)) return {}
    return { [at]: { parameters: own('key'), get: relatedGet(attribute, target, isMany, operation) } }
  }
  if (attribute.kind !== 'storage') return {}
  if (attribute.type === 'image' || attribute.type === 'blob') {
    return { [at]: { parameters: own('key'), ...binaryOperations(attribute, view, operation) } }
  }
  if (!attribute.unique || attribute === dataClass.key) return {}
  const value = {
    name: 'value',
    in: 'path',
    required: true,
    description: `Value of ${name}.`,
    schema: { type: 'string' },
    example: String(sampleOf(attribute) ?? 'text'),
  }
  return {
    [`/${dataClass.name}:${name}({value})`]: {
      parameters: [value],
      get: operation(`by.${name}`, `One entity by its ${name}`, {
        parameters: [...own('attributes', 'expand'), ...parameters('ifNoneMatch')],
        responses: oneOf(dataClass.name),
      }),
    },
  }
}

function relatedGet({ dataClass, name }: Attribute, target: DataClass, isMany: boolean, operation: Operation): object {
  const expand = {
    name: '$expand',
    in: 'query',
    required: true,
    description: 'The name of the relation: related entities in place of the link to them.',
    schema: { type: 'string' },
    example: name,
  }
  const more = isMany ? parameters('params', 'top', 'skip', 'keepRelated', 'subOrderby', 'subExpand', 'timeout') : []
  const of = isMany ? [partRef(target.name, '.collection')] : []
  return operation(`related.${name}`, `${isMany ? 'Entities' : 'The entity'} of ${target.name} at the end of ${name}`, {
    parameters: [expand, ...more],
    responses: ok(of.length > 0 ? { anyOf: [...of, partRef(dataClass.name)] } : partRef(dataClass.name)),
  })
}

function binaryOperations(attribute: Attribute & { kind: 'storage' }, view: View, operation: Operation): object {
  const { dataClass, name } = attribute
  const isImage = attribute.type === 'image'
  const query = isImage ? 'imageformat' : 'binary'
  const bytes = { [isImage ? 'image/*' : 'application/octet-stream']: BYTES }
  const isWritable = view.may('update', dataClass) && view.may('update', dataClass, attribute) && !attribute.readOnly
  return {
    get: operation(`bytes.${name}`, `Bytes of ${name}`, {
      parameters: parameters(query, 'version', ...(isImage ? ['width', 'height'] : [])),
      responses: {
        '200': { description: 'The bytes; empty where there are none.', content: bytes },
        '206': { description: 'The part that `Range` asks for.', content: bytes },
        '304': NOT_MODIFIED,
        '416': { description: 'There is no such part.' },
        ...FAILURE,
      },
    }),
    ...(isWritable && {
      put: operation(`put.${name}`, `Replaces ${name}`, {
        parameters: parameters(...(isImage ? ['rawPict'] : []), 'ifMatch'),
        requestBody: { required: true, content: bytes },
        responses: DONE,
      }),
      delete: operation(`clear.${name}`, `Removes ${name}`, {
        parameters: parameters(query, 'ifMatch'),
        responses: DONE,
      }),
    }),
  }
}
