import { type ClassFunction, ENTITY_OF, SELECTION_OF, commentOf, nameText, stringText } from '../../engine/index.ts'
import { block, isLabel, unionOf } from './text.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Types of functions by name: `Declared<[count: number], string>`, or null where nothing is declared.
 * @param shows true if the caller sees a dataclass
 */
export function writeFunctions(functions: readonly ClassFunction[], shows: (dataClass: string) => boolean): string {
  return block(functions.map(each => `${commentOf(each.description)}${nameText(each.name)}: ${signature(each, shows)}`))
}

function signature({ parameters, result, isStream }: ClassFunction, shows: (dataClass: string) => boolean): string {
  if (!parameters && !result) return 'null'
  const isNamed = parameters?.every(({ name }) => isLabel(name)) ?? false
  const list = parameters?.map(({ name, schema, isOptional }) => {
    const type = typeOf(schema, { shows, entity: 'EntityArgument', selection: 'SelectionArgument' })
    const orNull = isOptional ? `${type} | null` : type
    if (isNamed) return `${name}${isOptional ? '?' : ''}: ${orNull}`
    return isOptional ? `(${orNull})?` : type
  })
  const argumentTypes = list ? `[${list.join(', ')}]` : 'readonly unknown[]'
  const resultType = result
    ? typeOf(result, { shows, entity: 'EntityResult', selection: 'SelectionResult' })
    : 'unknown'
  return `Declared<${argumentTypes}, ${isStream ? `StreamResult<${resultType}>` : resultType}>`
}

interface Context {
  readonly shows: (dataClass: string) => boolean
  /** Types that stand for an entity and for a selection. */
  readonly entity: string
  readonly selection: string
}

/** TypeScript type of the values that fit a schema; constraints that a type cannot express, such as a range, are left out. */
function typeOf(schema: unknown, context: Context): string {
  if (typeof schema !== 'object' || schema === null) return 'unknown'
  const typedSchema = schema as Schema
  for (const [keyword, type] of [
    [ENTITY_OF, context.entity],
    [SELECTION_OF, context.selection],
  ] as const) {
    const dataClass = typedSchema[keyword]
    // The name of a hidden dataclass is hidden too.
    if (typeof dataClass === 'string') return context.shows(dataClass) ? `${type}<${stringText(dataClass)}>` : 'unknown'
  }
  if ('const' in typedSchema) return literal(typedSchema.const)
  if (Array.isArray(typedSchema.enum)) return unionOf(typedSchema.enum.map(literal))
  const alternatives = typedSchema.anyOf ?? typedSchema.oneOf
  if (Array.isArray(alternatives)) return unionOf(alternatives.map(each => typeOf(each, context)))
  if (Array.isArray(typedSchema.allOf)) return typedSchema.allOf.map(each => `(${typeOf(each, context)})`).join(' & ')
  if (Array.isArray(typedSchema.type))
    return unionOf(typedSchema.type.map(type => typeOf({ ...typedSchema, type }, context)))
  switch (typedSchema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return typedSchema.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return arrayOf(typedSchema, context)
    case 'object':
      return objectOf(typedSchema, context)
    default:
      return 'unknown'
  }
}

function arrayOf({ items, prefixItems }: Schema, context: Context): string {
  if (Array.isArray(prefixItems)) return `[${prefixItems.map(each => typeOf(each, context)).join(', ')}]`
  return `(${typeOf(items, context)})[]`
}

function objectOf(
  { properties, required = [], patternProperties, additionalProperties }: Schema,
  context: Context,
): string {
  const requiredNames = required as readonly string[]
  const members = Object.entries((properties ?? {}) as Schema).map(
    ([name, schema]) => `${nameText(name)}${requiredNames.includes(name) ? '' : '?'}: ${typeOf(schema, context)}`,
  )
  const valueSchemas = [...Object.values((patternProperties ?? {}) as Schema), additionalProperties].filter(
    each => typeof each === 'object' && each !== null,
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  return `Record<string, ${unionOf(valueSchemas.map(each => typeOf(each, context)).concat(valueSchemas.length > 0 ? [] : 'unknown'))}>`
}

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? stringText(value)
    : typeof value === 'object' && value !== null
      ? 'unknown'
      : String(value)
