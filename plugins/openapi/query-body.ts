import type { JsonSchema } from '../../engine/index.ts'
import { jsonContent, schemaRef } from './names.ts'
import type { Parameters } from './parameters.ts'

/** Schemas of the body of `$query`, at a dataclass and after an attribute list. */
export function queryBodies(parameters: Parameters): Record<string, JsonSchema> {
  const schema = (operation: 'list' | 'listValues'): JsonSchema => ({
    type: 'object',
    properties: parameters.properties(operation),
    additionalProperties: false,
  })
  return { 'rest.Query': schema('list'), 'rest.ValuesQuery': schema('listValues') }
}

/** Requests with these bodies. */
export function queryRequests(bodies: Record<string, JsonSchema>): Record<string, object> {
  const isFiltered = '$filter' in (bodies['rest.Query']!.properties as object)
  const example = isFiltered ? { $filter: '__STAMP > :1', $params: [0] } : {}
  const body = (schema: string): object => ({ required: true, content: jsonContent(schemaRef(schema), { example }) })
  return { Query: body('rest.Query'), ValuesQuery: body('rest.ValuesQuery') }
}
