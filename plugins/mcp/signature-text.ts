/** Functions as text, with the types that their authors have declared. */
import { type ClassFunction, ENTITY_OF, type JsonSchema, SELECTION_OF } from '../../engine/index.ts'

/** A function as the catalog shows it, with its declaration. */
export interface Method extends Partial<Pick<ClassFunction, 'description' | 'parameters' | 'result'>> {
  readonly name: string
  /** `dataClass`, `entityCollection`, `entity` or `dataStore`; undefined for singletons. */
  readonly applyTo?: string
  readonly allowedOnHTTPGET?: boolean
}

const MAX_SCHEMA = 400

/** `near(latitude, longitude, km?)!`, with `!` if it may write; `near(…)` if no parameters are declared. */
export function callOf({ name, parameters, allowedOnHTTPGET }: Method): string {
  const names = parameters?.map(each => `${each.name}${each.isOptional ? '?' : ''}`).join(', ') ?? '…'
  return `${name}(${names})${allowedOnHTTPGET ? '' : '!'}`
}

/** `callOf` with types and the description of the author. */
export function signatureOf({ name, parameters, result, description, allowedOnHTTPGET, applyTo }: Method): string {
  const types = parameters?.map(each => `${each.name}${each.isOptional ? '?' : ''}: ${typeOf(each.schema)}`)
  const resultText = result ? ` → ${typeOf(result)}` : ''
  const target = applyTo === undefined ? undefined : TARGETS[applyTo]
  const facts = [target && `function of ${target}`, !allowedOnHTTPGET && 'may write', description].filter(Boolean)
  return `${name}(${types?.join(', ') ?? '…'})${resultText}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`
}

const TARGETS: Readonly<Record<string, string>> = {
  dataClass: 'the class',
  entityCollection: 'a selection',
  entity: 'an entity',
}

/** Short text of a schema; for an object, its JSON. */
function typeOf(schema: JsonSchema): string {
  const { type, anyOf, items } = schema as { type?: unknown; anyOf?: JsonSchema[]; items?: JsonSchema }
  const entity = schema[ENTITY_OF]
  if (entity) return `${entity} as {"__ENTITY":true,"__DATACLASS":"${entity}","__KEY":…}`
  if (schema[SELECTION_OF]) return `entities of ${schema[SELECTION_OF]}`
  if ('const' in schema) return JSON.stringify(schema.const)
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (type === 'array' && items && !('prefixItems' in schema)) return `[${typeOf(items)}, …]`
  const { title: _, ...others } = schema
  return typeof type === 'string' && Object.keys(others).length === 1
    ? type
    : JSON.stringify(others).slice(0, MAX_SCHEMA)
}
