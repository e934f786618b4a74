import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats, { type FormatName } from 'ajv-formats'
import { compileRe2 } from '../../base/re2.ts'
import type { JsonSchema } from '../../base/json-schema.ts'
import { ENTITY_OF, SELECTION_OF } from './signature.ts'

/** String formats that are checked. */
export const FORMATS: readonly FormatName[] = [
  ...(['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const),
]

let ajv: Ajv2020 | undefined
const validators = new WeakMap<JsonSchema, ValidateFunction>()

/**
 * A function that checks whether a value fits, with the first error in its `errors`. Compiled on first use.
 * @throws {Error} the schema is not valid JSON Schema, or has keywords or formats that do not exist
 */
export function compileSchema(schema: JsonSchema): ValidateFunction {
  let validate = validators.get(schema)
  if (!validate) {
    ajv ??= newAjv()
    validate = ajv.compile(schema)
    validators.set(schema, validate)
  }
  return validate
}

function newAjv(): Ajv2020 {
  // RE2 takes linear time for every pattern and text.
  const regExp = Object.assign(
    (pattern: string) => {
      const expression = compileRe2(pattern)
      // The compiler distinguishes patterns by their text.
      return { test: (text: string) => expression.matcher(text).find(), toString: () => pattern }
    },
    { code: '' },
  )
  const compiler = new Ajv2020({
    verbose: true,
    strictTypes: false,
    strictTuples: false,
    // The compiler itself rejects wrong keywords. Compiling the meta-schema takes 80 ms.
    validateSchema: false,
    meta: false,
    code: { regExp },
  })
  compiler.addVocabulary([ENTITY_OF, SELECTION_OF])
  addFormats.default(compiler, { mode: 'full', formats: [...FORMATS] })
  return compiler
}
