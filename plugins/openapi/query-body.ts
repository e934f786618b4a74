import type { JsonSchema } from '../../engine/index.ts'
import { jsonContent, schemaRef } from './names.ts'
import { SHARED_PARAMETERS, VALUES_SCHEMA } from './shared.ts'

/** Parameters that every dataclass has with examples of its own, here with those that hold for all. */
const OF_DATACLASS = {
  filter: { type: 'string', description: 'Narrows the selection.', examples: ['__STAMP > 0'] },
  orderby: { type: 'string', description: 'Order of the selection.', examples: ['__KEY desc'] },
  attributes: {
    type: 'string',
    description: 'Attributes of the answer: `name,relation.name,relation.*`.',
    examples: ['*'],
  },
  expand: {
    type: 'string',
    description: 'Related entities in place of links: `relation,relation.relation`.',
    examples: ['$all'],
  },
}
const SELECTED = ['filter', 'params', 'orderby', 'top', 'limit', 'skip', 'expand']
const KEPT = ['keep', 'timeout', 'savedfilter', 'savedorderby']
const PRINTED = ['exact', 'prettyprint', 'prettyformatting', 'queryplan', 'querypath']
/** The answer is a collection, whatever they are. */
const OF_COLLECTION = [...SELECTED, 'attributes', ...KEPT, ...PRINTED]
/** Parameters with which the answer may be anything. */
const OF_VALUES = [...SELECTED, 'compute', 'distinct', 'counts', 'asArray', 'format', 'brief', ...PRINTED]

/** Schemas of the body of `$query`, at a dataclass and after an attribute list. */
export function queryBodies(isLoaded: (parameter: string) => boolean): Record<string, JsonSchema> {
  const schema = (names: readonly string[]): JsonSchema => ({
    type: 'object',
    properties: Object.fromEntries(names.filter(isLoaded).map(propertyOf)),
    additionalProperties: false,
  })
  return { 'rest.Query': schema(OF_COLLECTION), 'rest.ValuesQuery': schema(OF_VALUES) }
}

/** Requests with these bodies. */
export function queryRequests(isLoaded: (parameter: string) => boolean): Record<string, object> {
  const example = isLoaded('filter') ? { $filter: '__STAMP > :1', $params: [0] } : {}
  const body = (schema: string): object => ({ required: true, content: jsonContent(schemaRef(schema), { example }) })
  return { Query: body('rest.Query'), ValuesQuery: body('rest.ValuesQuery') }
}

interface Parameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** Name and schema of a member of the body. */
function propertyOf(name: string): [string, JsonSchema] {
  if (name === 'params') {
    const description = 'Values of the placeholders `:1`, `:2` … of `$filter`, or of `:name` by their names.'
    return ['$params', { description, ...VALUES_SCHEMA, examples: [[]] }]
  }
  const own = OF_DATACLASS[name as keyof typeof OF_DATACLASS] as JsonSchema | undefined
  if (own) return [`$${name}`, own]
  const { name: shown, description, schema, example } = SHARED_PARAMETERS[name] as unknown as Parameter
  return [shown, { ...schema, description, ...(example !== undefined && { examples: [example] }) }]
}
