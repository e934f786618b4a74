import { refuseUnsendable, writeExact } from './exact.ts'
import type { QueryValue } from './types.ts'

/** A filter with the values of its placeholders. */
export interface Filter {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Returns the filter of a tagged template. @throws {TypeError} a value is undefined, or cannot be sent */
export function filterOf(template: TemplateStringsArray | string, queryValues: readonly QueryValue[]): Filter {
  if (typeof template === 'string') return { text: template, values: queryValues.map(parameterOf) }
  const values: unknown[] = []
  let text = template[0] ?? ''
  for (const [index, value] of queryValues.entries()) {
    // Null cannot be a parameter; it is written into the text.
    text += `${value === null ? 'null' : `:${values.push(parameterOf(value))}`}${template[index + 1]}`
  }
  return { text: text.trim(), values }
}

function parameterOf(value: QueryValue | undefined): unknown {
  if (value === undefined) throw new TypeError('a value of the filter is undefined; null finds what has no value')
  refuseUnsendable(value, 'a value of the filter')
  return typeof value === 'object' && value !== null && '__KEY' in value ? value.__KEY : value
}

/**
 * Writes a key for an address: in quotes if it has characters other than letters, digits, `_`, `.` and `-`. @throws {TypeError} the key is
 * null or undefined
 */
export const keyText = (key: string | number | bigint): string => {
  if ((key ?? undefined) === undefined) throw new TypeError(`the key is ${key}`)
  const text = String(key)
  const quotedKey = /^[\w.-]+$/.test(text) ? text : text.includes('"') ? `'${text}'` : `"${text}"`
  // A bracket that is encoded does not end the keys.
  return encodeURIComponent(quotedKey).replaceAll('(', '%28').replaceAll(')', '%29')
}

/** Query string of the parameters: `?$filter=%22name%20%3D%20%3A1%22`. */
export function addressOf(parameters: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined)
  // Quotes around a value protect its content.
  const parts = pairs.map(([name, value]) => {
    const text =
      name === '$params' ? `'${writeExact(value)}'` : typeof value === 'string' ? `"${value}"` : String(value)
    return `${name}=${encodeURIComponent(text)}`
  })
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}
