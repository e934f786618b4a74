/** Examples of an OpenAPI document, each checked against its schema. */
import { createRequire } from 'node:module'
import type { FormatsPlugin } from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'

// biome-ignore lint/suspicious/noExplicitAny: the check reads a document at many places
type Json = any

const addFormats: FormatsPlugin = createRequire(import.meta.url)('ajv-formats')

/** @returns a text for each example that does not fit its schema, and the number of all examples */
export function wrongExamples(document: Json): { readonly count: number; readonly problems: string[] } {
  const ajv = new Ajv2020({ strict: false })
  addFormats(ajv)
  ajv.addSchema(document, 'document')
  const problems: string[] = []
  let count = 0

  const check = (place: string, schemaPlace: string, example: unknown): void => {
    count++
    const validate = ajv.compile({ $ref: `document#${schemaPlace}` })
    if (!validate(example)) problems.push(`${place}: ${JSON.stringify(example)}: ${ajv.errorsText(validate.errors)}`)
  }

  const visit = (node: Json, place: string, areNames = false): void => {
    if (typeof node !== 'object' || node === null) return
    const isSchema = !areNames && !Array.isArray(node)
    if (isSchema && node.schema) {
      if ('example' in node) check(place, `${place}/schema`, node.example)
      if ('example' in node && node.schema.contentSchema)
        check(place, `${place}/schema/contentSchema`, JSON.parse(node.example))
    } else if (isSchema) {
      if ('example' in node) check(place, place, node.example)
      if ('default' in node && !place.includes('/responses')) check(place, place, node.default)
      if (Array.isArray(node.examples)) for (const each of node.examples) check(place, place, each)
    }
    for (const [name, value] of Object.entries(node)) {
      if (isSchema && VALUES.has(name)) continue
      visit(value, `${place}/${pointerOf(name)}`, isSchema && NAMES.has(name))
    }
  }

  visit(document, '')
  return { count, problems }
}

/** Members whose values are data. */
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum'])
/** Members whose members have names of the model or of a status. */
const NAMES = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'responses',
  'schemas',
  'parameters',
  'paths',
  'content',
])

const pointerOf = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
