import type { JsonSchema } from '../../engine/index.ts'

/** Name of a dataclass among components, which take ASCII letters, digits, `.`, `-` and `_` only. */
export const componentName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_]/gu, character => `-${character.codePointAt(0)!.toString(16)}`)

type Section = 'headers' | 'schemas' | 'parameters' | 'responses' | 'requestBodies' | 'pathItems'

export const ref = (section: Section, name: string): JsonSchema => ({ $ref: `#/components/${section}/${name}` })
export const schemaRef = (name: string): JsonSchema => ref('schemas', name)

/** Schemas of a dataclass: an entity as it is sent, a selection of them, any form of a selection, a save, and its answer. */
type Part = '' | '.collection' | '.selection' | '.save' | '.saved'
export const partRef = (dataClass: string, part: Part = ''): JsonSchema =>
  schemaRef(`${componentName(dataClass)}${part}`)

/** Content of a JSON body. */
export const jsonContent = (schema: JsonSchema, more: object = {}): object => ({
  'application/json': { schema, ...more },
})
export const DONE = { '200': ref('responses', 'Ok'), default: ref('responses', 'Error') }
export const ok = (schema: JsonSchema, description = 'The answer.'): object => ({
  '200': { description, content: jsonContent(schema) },
  default: ref('responses', 'Error'),
})
