import {
  alternativesOf,
  type ClassFunction,
  ENTITY_OF,
  type JsonSchema,
  SELECTION_OF,
  type View,
  visibleSchema,
} from '../../engine/index.ts'
import { componentName, jsonContent, partRef, ref, schemaRef } from './names.ts'
import { sampleOfSchema } from './samples.ts'

/** Components of a function, to which its addresses refer. */
interface FunctionParts {
  readonly requestBodies: Readonly<Record<string, object>>
  readonly responses: Readonly<Record<string, object>>
  readonly parameters: Readonly<Record<string, object>>
}

const shown = (schema: JsonSchema, view: View): JsonSchema =>
  visibleSchema(schema, name => view.find(name) !== undefined)

const partName = ({ owner, target, name }: ClassFunction): string =>
  `${componentName(owner)}.${target.kind}.${componentName(name)}`

export function functionParts(called: ClassFunction, view: View): FunctionParts {
  const schema = argumentsSchema(called, view)
  const example = called.parameters
    ?.filter(({ isOptional }) => !isOptional)
    .map(each => sampleOfSchema(shown(each.schema, view)))
  const content = jsonContent(schema, { ...(example && { example }) })
  const of = <T>(part: T): Record<string, T> => ({ [partName(called)]: part })
  const given = { ...ARGUMENTS, required: (example ?? []).length > 0, content }
  return {
    requestBodies: of({ content }),
    responses: of(responseOf(called, view)),
    parameters: called.allowedOnHTTPGET ? { [`${partName(called)}.arguments`]: given } : {},
  }
}

/**
 * Operations at an address of a class function.
 * @param id distinguishes the address from others of the function
 * @param more parameters of the address
 */
export function functionPath(called: ClassFunction, id: string, more: readonly object[] = []): object {
  const { fullName, owner, description, allowedOnHTTPGET } = called
  const operation = (verb: string): object => ({
    operationId: `${id}.${verb}`,
    summary: description ?? `The function ${fullName}`,
    tags: [owner],
  })
  const responses = { '200': ref('responses', partName(called)), default: ref('responses', 'Error') }
  return {
    ...(more.length > 0 && { parameters: more }),
    post: { ...operation('post'), requestBody: ref('requestBodies', partName(called)), responses },
    ...(allowedOnHTTPGET && {
      get: { ...operation('get'), parameters: [ref('parameters', `${partName(called)}.arguments`)], responses },
    }),
  }
}

const ARGUMENTS = { name: '$params', in: 'query', description: 'Arguments of the function.' }

function argumentsSchema({ parameters }: ClassFunction, view: View): JsonSchema {
  if (!parameters) return { type: 'array' }
  const needed = parameters.filter(({ isOptional }) => !isOptional).length
  const elements = parameters.map(({ name, schema, isOptional }) => {
    const own = shown(schema, view)
    return isOptional ? { title: name, anyOf: [own, { type: 'null' }] } : { ...own, title: name }
  })
  return {
    type: 'array',
    ...(elements.length > 0 && { prefixItems: elements }),
    ...(elements.length > 0 ? { items: false } : {}),
    minItems: needed,
    maxItems: elements.length,
  }
}

function responseOf({ result }: ClassFunction, view: View): object {
  if (!result) return { description: 'Whatever the function returns.', content: ANYTHING }
  const answer = (schema: JsonSchema): object => ({ description: 'The answer.', content: jsonContent(schema) })
  const bodies = alternativesOf(result)
  const isEntities = (schema: JsonSchema): boolean => ENTITY_OF in schema || SELECTION_OF in schema
  if (!bodies.some(isEntities)) return answer(wrapped(result))
  const found = bodies.filter(each => each !== result || !Array.isArray(result.anyOf)).map(each => bodyOf(each, view))
  return answer(found.length === 1 ? found[0]! : { anyOf: found })
}

const ANYTHING = { 'application/json': { schema: {} }, '*/*': { schema: { type: 'string' } } }

/** Schema of an answer: entities and selections are sent as they are, other values in `result`. */
function bodyOf(schema: JsonSchema, view: View): JsonSchema {
  const [entity, selection] = [schema[ENTITY_OF], schema[SELECTION_OF]]
  if (entity !== undefined) return view.find(String(entity)) ? partRef(String(entity)) : {}
  if (selection !== undefined) return view.find(String(selection)) ? partRef(String(selection), '.selection') : {}
  return wrapped(schema)
}

const wrapped = (result: JsonSchema): JsonSchema => ({
  allOf: [schemaRef('rest.Result')],
  type: 'object',
  properties: { result },
})
