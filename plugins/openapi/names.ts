import type { JsonSchema } from '../../engine/index.ts'

/** Name of a dataclass among components, which take ASCII letters, digits, `.`, `-` and `_` only. */
export const componentName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_]/gu, character => `-${character.codePointAt(0)!.toString(16)}`)

type Section = 'headers' | 'schemas' | 'parameters' | 'responses' | 'requestBodies'

export const ref = (section: Section, name: string): JsonSchema => ({ $ref: `#/components/${section}/${name}` })
export const schemaRef = (name: string): JsonSchema => ref('schemas', name)

/**
 * Schemas of a dataclass: an entity as it is sent, an entity returned by a function, which may be new, a selection of such entities, any
 * form of a selection, a save, and the answer to a save.
 */
type Part = '' | '.returned' | '.collection' | '.selection' | '.save' | '.saved'
export const partRef = (dataClass: string, part: Part = ''): JsonSchema =>
  schemaRef(`${componentName(dataClass)}${part}`)

/** Content of a JSON body. */
export const jsonContent = (schema: JsonSchema, more: object = {}): object => ({
  'application/json': { schema, ...more },
})
/** An object with any members. Without `additionalProperties`, generators would generate an object without members. */
export const ANY_OBJECT: JsonSchema = { type: 'object', additionalProperties: true }
/** Responses of a request that failed. */
export const FAILURE = { default: ref('responses', 'Error') }
export const DONE = { '200': ref('responses', 'Ok'), ...FAILURE }
export const ok = (schema: JsonSchema, description = 'The answer.'): object => ({
  '200': { description, content: jsonContent(schema) },
  ...FAILURE,
})
