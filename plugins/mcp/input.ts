/** Arguments of tools in the forms in which models and their clients send them. */
import type { TObject, TSchema } from '@sinclair/typebox'
import { parseJsonBody } from '../../engine/index.ts'

type Input = Readonly<Record<string, unknown>>

/** Arguments as the schema of a tool describes them; what cannot be read is unchanged, for the error. */
export const normalizedInput = (schema: TObject, input: Input): Input =>
  Object.fromEntries(
    Object.entries(withoutBigints(input) as Input)
      .filter(([name, value]) => !(value === null && isOptional(schema, name)))
      .map(([name, value]) => [name, readValue(schema, name, value)]),
  )

/** Replaces integers beyond 2^53 by strings, which the public protocol accepts as numbers. */
const withoutBigints = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)))

/** True for a property that may be missing. Many models send null for each argument that they do not need. */
const isOptional = ({ properties, required = [] }: TObject, name: string): boolean =>
  Object.hasOwn(properties, name) && !required.includes(name)

function readValue({ properties }: TObject, name: string, value: unknown): unknown {
  const type = Object.hasOwn(properties, name) ? (properties[name] as TSchema).type : undefined
  return Object.hasOwn(READERS, type) ? READERS[type as keyof typeof READERS](value) : value
}

const NUMBER = /^-?\d+(?:\.\d+)?$/

/** Readers by the type of a property. */
const READERS = {
  array: listOf,
  integer: numberOf,
  number: numberOf,
  boolean: (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value),
  /** Keys in particular: some clients send every text of digits as a number. */
  string: (value: unknown) => (typeof value === 'number' ? String(value) : value),
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
}

/** Agents often send `"class": "City"`, and some clients send a list as the text of its JSON. */
function listOf(value: unknown): unknown {
  if (Array.isArray(value) || value === null) return value
  return (typeof value === 'string' && listIn(value)) || [value]
}

function listIn(text: string): unknown {
  if (!/^\s*\[/.test(text)) return undefined
  try {
    return withoutBigints(parseJsonBody(Buffer.from(text), undefined, 'numbers'))
  } catch {
    // A text of its own, such as "[draft]".
    return undefined
  }
}
