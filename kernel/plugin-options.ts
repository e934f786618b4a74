import type { TObject, TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject } from 'ajv'
import {
  describeReference,
  isReference,
  REFERENCE_FORM,
  type Reference,
  type ReferencedText,
  resemblesReference,
  UNREAD,
} from '../config/reference.ts'
import { addSecrets } from '../engine/base/known-secrets.ts'
import { suggestion } from '../engine/index.ts'

/** Maximum number of references in the options of one plugin: each is looked for in every line of the log. */
const MAX_REFERENCES = 100

/** Compiler of schemas, shared by all plugins: creating an instance takes longer than compiling a schema. */
let ajv: Ajv | undefined

/**
 * Fills in the defaults of a plugin to which no options are given, without a checker, which takes 40 ms to create.
 * @returns false if an option must be given, or a default has parts with their own defaults; {@link optionProblems} reports details
 */
export function hasOnlyDefaults({ properties, required = [] }: TObject, options: Record<string, unknown>): boolean {
  if (Object.keys(options).length > 0) return false
  const defaults = Object.entries(properties).filter(([, schema]) => schema.default !== undefined)
  if (defaults.some(([, schema]) => schema.properties !== undefined)) return false
  if (!required.every(name => defaults.some(([defaultName]) => defaultName === name))) return false
  for (const [name, schema] of defaults) options[name] = structuredClone(schema.default)
  return true
}

/**
 * Problems of the options of a plugin. Fills in the values of references, and defaults. The values of references are hidden from then on,
 * and appear in no problem. An option with a reference that cannot be read stays unchanged and unchecked.
 */
export function optionProblems(
  plugin: string,
  schema: TObject | undefined,
  options: Record<string, unknown>,
  read: (reference: Reference) => ReferencedText,
): string[] {
  const optionNames = Object.keys(schema?.properties ?? {})
  const unknown = Object.keys(options).filter(option => !optionNames.includes(option))
  const problems = unknown.map(option => `plugin ${plugin} has no option ${option}${suggestion(option, optionNames)}`)
  if (!schema) return problems
  const outcomes = new Map<string, Found>()
  const unread = new Set<string>()
  resolveWithin(options, [schema], '', (path, reference, places) => {
    const outcome = outcomes.size < MAX_REFERENCES ? outcomeOf(reference, places, read) : TOO_MANY
    if (outcome === UNREAD) unread.add(topLevel(path))
    outcomes.set(path, { ...outcome, reference })
    return 'value' in outcome ? outcome.value : reference
  })
  const tell = (path: string, text: string) =>
    void problems.push(`plugin ${plugin}: option ${path.slice(1).replaceAll('/', '.')}${text}`)
  for (const [path, outcome] of outcomes) if ('problem' in outcome) tell(path, `: ${outcome.problem}`)
  ajv ??= new Ajv({ allErrors: true, useDefaults: true, verbose: true })
  const validate = ajv.compile(schema as TSchema)
  if (!validate(options)) {
    for (const error of withoutAlternatives(validate.errors ?? [])) {
      const at = outcomes.get(error.instancePath)
      if ((at && 'problem' in at) || unread.has(topLevel(error.instancePath))) continue
      const hint = at ? `, in ${describeReference(at.reference)}` : referenceHint(error)
      tell(error.instancePath, ` ${describeError(error)}${hint}`)
    }
  }
  return problems
}

/** Errors, except those of each constant in a list of alternatives. */
const withoutAlternatives = (errors: readonly ErrorObject[]): ErrorObject[] =>
  errors.filter(
    ({ keyword, instancePath }) =>
      keyword !== 'const' || !errors.some(each => each.keyword === 'anyOf' && each.instancePath === instancePath),
  )

const referenceHint = ({ keyword, data }: ErrorObject): string =>
  keyword === 'type' && resemblesReference(data) ? `; to refer to a value, ${REFERENCE_FORM}` : ''

/** The message of the library, with the names and values that are accepted. */
function describeError({ keyword, message, params, parentSchema = {} }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${listValues(params.allowedValues)}`
  const constants: unknown[] = keyword === 'anyOf' ? parentSchema.anyOf.map((each: TSchema) => each.const) : []
  if (constants.length > 0 && !constants.includes(undefined)) return `must be one of ${listValues(constants)}`
  if (keyword !== 'additionalProperties') return message!
  const { additionalProperty: name } = params
  const names = Object.keys(parentSchema.properties ?? {})
  const patterns = Object.keys(parentSchema.patternProperties ?? {})
  const hint = names.length > 0 ? `it has ${names.join(', ')}` : `names match ${patterns.join(' or ')}`
  return `has no ${JSON.stringify(name)}${suggestion(name, names) || `; ${hint}`}`
}

const listValues = (values: readonly unknown[]): string => values.map(value => JSON.stringify(value)).join(', ')

/** The part of a JSON pointer that names an option of the plugin. */
const topLevel = (path: string): string => path.split('/', 2).join('/')

type Outcome = { readonly value: unknown } | { readonly problem: string } | typeof UNREAD
type Found = Outcome & { readonly reference: Reference }

const TOO_MANY: Outcome = {
  problem: `there are more than ${MAX_REFERENCES} references; write what need not be hidden into the config file`,
}

/**
 * Replaces the references within a value.
 * @param schemas schemas that may apply to the value
 * @param path JSON pointer
 */
function resolveWithin(
  value: object,
  schemas: readonly TSchema[],
  path: string,
  resolve: (path: string, reference: Reference, schemas: readonly TSchema[]) => unknown,
): void {
  const holder = value as Record<string, unknown>
  for (const [name, child] of Object.entries(value)) {
    if (typeof child !== 'object' || child === null) continue
    const places = schemas.flatMap(schema => schemasAt(schema, name, Array.isArray(value))).flatMap(alternatives)
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (isReference(child) && !places.some(schema => declares(schema, child))) holder[name] = resolve(at, child, places)
    else resolveWithin(child, places, at, resolve)
  }
}

/** True if the plugin's own schema has objects with this property, so that it is not a reference. */
const declares = ({ properties }: TSchema, reference: Reference): boolean =>
  properties !== undefined && Object.keys(reference).some(name => Object.hasOwn(properties, name))

const alternatives = (schema: TSchema): TSchema[] => [
  schema,
  ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((parts: TSchema[] = []) => parts.flatMap(alternatives)),
]

/** Schemas of an element or a property, without its alternatives. */
function schemasAt(schema: TSchema, name: string, isElement: boolean): TSchema[] {
  const { items, properties = {}, patternProperties = {}, additionalProperties } = schema
  if (isElement) return [Array.isArray(items) ? items[Number(name)] : items].filter(Boolean)
  if (Object.hasOwn(properties, name)) return [properties[name]]
  const patterns = Object.entries(patternProperties as Record<string, TSchema>)
  const schemas = patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(name)).map(([, each]) => each)
  return schemas.length > 0 || typeof additionalProperties !== 'object' ? schemas : [additionalProperties]
}

function outcomeOf(
  reference: Reference,
  places: readonly TSchema[],
  read: (reference: Reference) => ReferencedText,
): Outcome {
  const result = read(reference)
  if (!('text' in result)) return result
  addSecrets([result.text])
  const types: string[] = places.flatMap(({ type }) => type ?? [])
  if (types.length === 0 || types.includes('string')) return { value: result.text }
  const isNumber = types.includes('number') || types.includes('integer')
  const value =
    (isNumber ? numberIn(result.text) : undefined) ?? (types.includes('boolean') ? flagIn(result.text) : undefined)
  if (value !== undefined) return { value }
  const what = describeReference(reference)
  if (isNumber) return { problem: `${what} does not hold a number such as 587` }
  if (types.includes('boolean')) return { problem: `${what} holds neither true nor false` }
  return { problem: `${what} holds a text, and the option has to be of the type ${types.join(' or ')}` }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A number in the notation of JSON; undefined for an integer that a number cannot hold exactly. */
function numberIn(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)) ? value : undefined
}

const flagIn = (text: string): boolean | undefined => (text === 'true' ? true : text === 'false' ? false : undefined)
