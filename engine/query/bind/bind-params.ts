import type { Params } from '../parse/parse-params.ts'
import type { PathStep, PlaceholderSyntax } from '../parse/syntax-tree.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'

const nameOf = ({ path }: PlaceholderSyntax): string => excerpt(`:${path.join('.')}`)

/**
 * Value of a placeholder in `$params`: `:1`, `:name`, or a property of a value, `:extraInfo.name`. The name may also be a
 * property of an object in the array of values: `:fn` of `[{"fn":"Dora"}]`, as mobile clients send it.
 * @throws {QueryErrors.PLACEHOLDER_MISSING} 1279
 * Source: protocol notes, 1.3 and 2.11.
 */
export function placeholderValue(placeholder: PlaceholderSyntax, params: Params | undefined): unknown {
  const [name, ...properties] = placeholder.path as [string, ...string[]]
  let value = NUMBER.test(name) ? params?.positional[Number(name) - 1] : namedValue(name, params)
  for (const property of properties) value = hasOwn(value, property) ? value[property] : undefined
  if (value === undefined) throw QueryErrors.PLACEHOLDER_MISSING(nameOf(placeholder), available(params))
  return value
}

function namedValue(name: string, params: Params | undefined): unknown {
  if (!params || params.named.has(name)) return params?.named.get(name)
  return params.positional.find((value): value is Record<string, unknown> => hasOwn(value, name))?.[name]
}

const hasOwn = (value: unknown, name: string): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)

/**
 * The attribute path that a placeholder stands for: a text with dots, or an array of names, which may contain any character.
 * @throws {QueryErrors.PLACEHOLDER_MISSING} 1279
 * @throws {QueryErrors.PLACEHOLDER_TYPE} 1280
 */
export function placeholderPath(placeholder: PlaceholderSyntax, params: Params | undefined): PathStep[] {
  const [name] = placeholder.path as [string, ...string[]]
  const isAttribute = placeholder.path.length === 1 && params?.attributes.has(name)
  const value = isAttribute ? params!.attributes.get(name) : placeholderValue(placeholder, params)
  const names = typeof value === 'string' ? value.split('.') : value
  if (!isPathOfNames(names)) {
    throw QueryErrors.PLACEHOLDER_TYPE(
      nameOf(placeholder),
      'something else',
      'an attribute path such as "employer.name"',
    )
  }
  return names.map(step => ({ name: step, classIndex: undefined, element: undefined }))
}

const isPathOfNames = (names: unknown): names is string[] =>
  Array.isArray(names) && names.length <= MAX_STEPS && names.every(name => typeof name === 'string')

const NUMBER = /^\d{1,6}$/
const MAX_STEPS = 100

function available(params: Params | undefined): string {
  const count = params?.positional.length ?? 0
  const names = [...(params?.named.keys() ?? [])].slice(0, 10)
  if (names.length > 0) return `is not in $params, which has ${excerpt(names.map(name => `:${name}`).join(', '))}`
  if (count === 0) return 'has no value: $params is empty; send a JSON array such as $params=\'["Smith",42]\''
  return `is not in $params, which has :1${count > 1 ? ` to :${count}` : ''}`
}
