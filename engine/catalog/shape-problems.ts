import { type Schema, Validator } from '@cfworker/json-schema'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from '@sinclair/typebox'
import { suggestion } from '../base/suggestion.ts'

// `strict` would only reject TypeBox's own keywords; formats and unions of types are not used.
const ajv = new Ajv({ allErrors: true, verbose: true, strict: false })
const validators = new WeakMap<TSchema, ValidateFunction>()
const interpreters = new WeakMap<TSchema, Validator>()

/**
 * Reasons why `value` does not have the shape of `schema`, a sentence each: `{path}: what was found, what is expected`.
 * @param path position of the value in its file, for example `dataClasses.City`; empty for the file itself
 */
export function shapeProblems(schema: TSchema, value: unknown, path: string): string[] {
  // Compiling the schemas of the configuration and the model takes a third of a command's startup time, and only an invalid value
  // needs it.
  if (hasShape(schema, value)) return []
  let validate = validators.get(schema)
  if (!validate) {
    validate = ajv.compile(schema)
    validators.set(schema, validate)
  }
  return validate(value) ? [] : (validate.errors ?? []).map(error => sentence(error, path))
}

/** False if the value is wrong. May also be false if it has parts that JSON does not have, such as `undefined`; Ajv then decides. */
export function hasShape(schema: TSchema, value: unknown): boolean {
  let interpreter = interpreters.get(schema)
  if (!interpreter) {
    interpreter = new Validator(schema as Schema)
    interpreters.set(schema, interpreter)
  }
  try {
    return interpreter.validate(value).valid
  } catch {
    // The interpreter throws on values that JSON does not have, and plugins define their models as objects in code.
    return false
  }
}

function sentence(error: ErrorObject, path: string): string {
  const at = join(path, ...error.instancePath.split('/').slice(1).map(unescapePointer))
  const { params, keyword } = error
  switch (keyword) {
    case 'additionalProperties': {
      const names = Object.keys(error.parentSchema?.properties ?? {})
      const hint = suggestion(params.additionalProperty, names) || `; known are ${names.join(', ')}`
      return `${join(at, params.additionalProperty)}: there is no such option${hint}`
    }
    case 'required':
      return `${at || 'the file'}: "${params.missingProperty}" is missing`
    case 'enum': {
      const hint = typeof error.data === 'string' ? suggestion(error.data, params.allowedValues.map(String)) : ''
      return `${at}: ${show(error.data)} is none of ${params.allowedValues.join(', ')}${hint}`
    }
    case 'type':
      return `${at || 'the file'}: expected ${[params.type].flat().map(article).join(' or ')}, received ${show(error.data)}`
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'exclusiveMaximum':
      return `${at}: expected a number ${params.comparison} ${params.limit}, received ${show(error.data)}`
    case 'pattern': {
      const example: unknown = error.parentSchema?.examples?.[0]
      const expected =
        example === undefined ? `a text that matches ${params.pattern}` : `a value such as ${show(example)}`
      return `${at}: expected ${expected}, received ${show(error.data)}`
    }
    case 'minItems':
      return `${at}: expected at least ${params.limit} ${params.limit === 1 ? 'item' : 'items'}, received ${show(error.data)}`
    case 'minLength':
      return `${at}: must not be empty`
    default:
      return `${at}: ${error.message}, received ${show(error.data)}`
  }
}

/** Path of a property, dotted. */
const join = (...parts: string[]): string => parts.filter(part => part !== '').join('.')

/** A value as quoted in messages: JSON, truncated if long. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`)
const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')
