import {
  alternativesOf,
  type ClassFunction,
  ENTITY_OF,
  type JsonSchema,
  SELECTION_OF,
  type View,
  visibleSchema,
} from '../../engine/index.ts'
import { componentName, FAILURE, jsonContent, partRef, ref, schemaRef } from './names.ts'
import { complete, sampleOfSchema } from './samples.ts'
import { JSON_TEXT } from './shared.ts'

/** Components of a function, to which its addresses refer. */
interface FunctionParts {
  readonly requestBodies: Readonly<Record<string, object>>
  readonly responses: Readonly<Record<string, object>>
  readonly parameters: Readonly<Record<string, object>>
}

const reduceSchema = (schema: JsonSchema, view: View): JsonSchema =>
  visibleSchema(schema, name => view.find(name) !== undefined)

const partName = ({ owner, target, name }: ClassFunction): string =>
  `${componentName(owner)}.${target.kind}.${componentName(name)}`

export function functionParts(classFunction: ClassFunction, view: View): FunctionParts {
  const schema = argumentsSchema(classFunction, view)
  const requiredCount = classFunction.parameters?.filter(({ isOptional }) => !isOptional).length ?? 0
  const samples = classFunction.parameters
    ?.slice(0, Math.max(requiredCount, 1))
    .map(each => sampleOfSchema(reduceSchema(each.schema, view)))
  const example = samples && complete(samples)
  const content = jsonContent(schema, { ...(example && { example }) })
  const of = <T>(part: T): Record<string, T> => ({ [partName(classFunction)]: part })
  const parameter = {
    ...ARGUMENTS,
    required: requiredCount > 0,
    schema: { ...JSON_TEXT, contentSchema: schema },
    ...(example && { example: JSON.stringify(example) }),
  }
  return {
    requestBodies: of({ content }),
    responses: of(responseOf(classFunction, view)),
    parameters: classFunction.allowedOnHTTPGET ? { [`${partName(classFunction)}.arguments`]: parameter } : {},
  }
}

/**
 * Operations at an address of a class function.
 * @param id distinguishes the address from others of the function
 * @param more parameters of the address
 */
export function functionPath(classFunction: ClassFunction, id: string, more: readonly object[] = []): object {
  const { fullName, owner, description, allowedOnHTTPGET } = classFunction
  const operation = (verb: string): object => ({
    operationId: `${id}.${verb}`,
    summary: description ?? `The function ${fullName}`,
    tags: [owner],
  })
  const responses = { '200': ref('responses', partName(classFunction)), ...FAILURE }
  return {
    ...(more.length > 0 && { parameters: more }),
    post: { ...operation('post'), requestBody: ref('requestBodies', partName(classFunction)), responses },
    ...(allowedOnHTTPGET && {
      get: { ...operation('get'), parameters: [ref('parameters', `${partName(classFunction)}.arguments`)], responses },
    }),
  }
}

const ARGUMENTS = { name: '$params', in: 'query', description: 'Arguments of the function, as a JSON array.' }

function argumentsSchema({ parameters }: ClassFunction, view: View): JsonSchema {
  if (!parameters) return { type: 'array' }
  const requiredCount = parameters.filter(({ isOptional }) => !isOptional).length
  const elements = parameters.map(({ name, schema, isOptional }) => {
    const elementSchema = reduceSchema(schema, view)
    return isOptional ? { title: name, anyOf: [elementSchema, { type: 'null' }] } : { ...elementSchema, title: name }
  })
  if (elements.length === 0) return { type: 'array', maxItems: 0 }
  const lengths = lengthsOf(Math.max(requiredCount, 1), elements.length)
  const tuples = lengths.map(length => ({
    type: 'array',
    prefixItems: elements.slice(0, length),
    items: false,
    minItems: length,
    maxItems: length,
  }))
  return tuples.length === 1 ? tuples[0]! : { anyOf: tuples }
}

/**
 * Lengths of the tuples of arguments: one schema for each, since generators read one tuple of several lengths as one of full length.
 * Optional arguments at the end may be null, too.
 */
function lengthsOf(least: number, most: number): number[] {
  if (most - least > MAX_OPTIONAL) return [least, most]
  return Array.from({ length: most - least + 1 }, (_, i) => least + i)
}

const MAX_OPTIONAL = 3

function responseOf({ result, isStream }: ClassFunction, view: View): object {
  if (isStream) return { description: STREAM, content: streamOf(result ? reduceSchema(result, view) : {}, view) }
  if (!result) return { description: 'The value that the function returns.', content: ANYTHING }
  const answer = (schema: JsonSchema): object => ({ description: 'The answer.', content: jsonContent(schema) })
  const bodies = alternativesOf(result)
  const isEntities = (schema: JsonSchema): boolean => ENTITY_OF in schema || SELECTION_OF in schema
  if (!bodies.some(isEntities)) return answer(wrapResult(result))
  const schemas = bodies.filter(each => each !== result || !Array.isArray(result.anyOf)).map(each => bodyOf(each, view))
  return answer(schemas.length === 1 ? schemas[0]! : { anyOf: schemas })
}

const STREAM =
  'The values of the function as they are made: one on each line, or one for each event if the client prefers these.'

const streamOf = (value: JsonSchema, view: View): object => ({
  'application/x-ndjson': { schema: entitiesOf(value, view) ?? value },
  'text/event-stream': { schema: { type: 'string' } },
})

const ANYTHING = { 'application/json': { schema: {} }, '*/*': { schema: { type: 'string' } } }

/** Schema of an answer: entities and selections are sent as they are, other values in `result`. */
const bodyOf = (schema: JsonSchema, view: View): JsonSchema => entitiesOf(schema, view) ?? wrapResult(schema)

/** Schema of entities and selections as they are sent; undefined for other values. */
function entitiesOf(schema: JsonSchema, view: View): JsonSchema | undefined {
  const [entity, selection] = [schema[ENTITY_OF], schema[SELECTION_OF]]
  if (entity !== undefined) return view.find(String(entity)) ? partRef(String(entity), '.returned') : {}
  if (selection !== undefined) return view.find(String(selection)) ? partRef(String(selection), '.collection') : {}
  return undefined
}

const wrapResult = (result: JsonSchema): JsonSchema => ({
  allOf: [schemaRef('rest.Result')],
  type: 'object',
  properties: { result },
})
