import { noParams, type Params } from '../../query/parse/parse-params.ts'
import type { QueryTexts } from '../../query/plan/query-cache.ts'
import { toPlain } from './values.ts'

/** Texts of a query of plugin code. The last value may be `{ parameters, attributes }`. */
export function queryTexts(text: string, values: readonly unknown[]): QueryTexts {
  const last = values.at(-1)
  const settings = isSettings(last) ? last : undefined
  const positional = (settings ? values.slice(0, -1) : values).map(plainValue)
  const { parameters = {}, attributes = {} } = settings ?? {}
  const params: Params = {
    positional: Array.isArray(parameters) ? [...positional, ...parameters.map(plainValue)] : positional,
    named: Array.isArray(parameters) ? noParams.named : mapOf(parameters),
    attributes: mapOf(attributes),
  }
  return { filter: text, ...(values.length > 0 && { params }) }
}

const mapOf = (object: object): Map<string, unknown> =>
  new Map(Object.entries(object).map(([name, value]) => [name, plainValue(value)]))

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  return isComparison(value) ? { ...value, vector: toPlain(value.vector) } : toPlain(value)
}

/** Operand of a vector comparison. */
const isComparison = (value: unknown): value is { vector: unknown } =>
  typeof value === 'object' && value !== null && 'vector' in value

function isSettings(value: unknown): value is { parameters?: object; attributes?: object } {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return false
  const names = Object.keys(value)
  return names.length > 0 && names.every(name => name === 'parameters' || name === 'attributes')
}
