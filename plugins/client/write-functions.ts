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
  const given = list ? `[${list.join(', ')}]` : 'readonly unknown[]'
  const returned = result ? typeOf(result, { shows, entity: 'EntityResult', selection: 'SelectionResult' }) : 'unknown'
  return `Declared<${given}, ${isStream ? `StreamResult<${returned}>` : returned}>`
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
  const known = schema as Schema
  for (const [keyword, type] of [
    [ENTITY_OF, context.entity],
    [SELECTION_OF, context.selection],
  ] as const) {
    const dataClass = known[keyword]
    // The name of a hidden dataclass is hidden too.
    if (typeof dataClass === 'string') return context.shows(dataClass) ? `${type}<${stringText(dataClass)}>` : 'unknown'
  }
  if ('const' in known) return literal(known.const)
  if (Array.isArray(known.enum)) return unionOf(known.enum.map(literal))
  const alternatives = known.anyOf ?? known.oneOf
  if (Array.isArray(alternatives)) return unionOf(alternatives.map(each => typeOf(each, context)))
  if (Array.isArray(known.allOf)) return known.allOf.map(each => `(${typeOf(each, context)})`).join(' & ')
  if (Array.isArray(known.type)) return unionOf(known.type.map(type => typeOf({ ...known, type }, context)))
  switch (known.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return known.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return arrayOf(known, context)
    case 'object':
      return objectOf(known, context)
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
  const needed = required as readonly string[]
  const members = Object.entries((properties ?? {}) as Schema).map(
    ([name, schema]) => `${nameText(name)}${needed.includes(name) ? '' : '?'}: ${typeOf(schema, context)}`,
  )
  const others = [...Object.values((patternProperties ?? {}) as Schema), additionalProperties].filter(
    each => typeof each === 'object' && each !== null,
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  return `Record<string, ${unionOf(others.map(each => typeOf(each, context)).concat(others.length > 0 ? [] : 'unknown'))}>`
}

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? stringText(value)
    : typeof value === 'object' && value !== null
      ? 'unknown'
      : String(value)
