/** Arguments of tools in the forms in which models send them. */
import type { TObject } from '@sinclair/typebox'

type Input = Readonly<Record<string, unknown>>

/** Arguments as the schema of a tool describes them. */
export const normalizedInput = (schema: TObject, input: Input): Input =>
  Object.fromEntries(
    Object.entries(withoutBigints(input))
      .filter(([name, value]) => !(value === null && isOptional(schema, name)))
      .map(([name, value]) => [name, isList(schema, name) && typeof value === 'string' ? [value] : value]),
  )

/** Replaces integers beyond 2^53 by strings, which the public protocol accepts as numbers. */
const withoutBigints = (value: object): Input =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)))

/** True for a property that may be missing. Many models send null for each argument that they do not need. */
const isOptional = ({ properties, required = [] }: TObject, name: string): boolean =>
  Object.hasOwn(properties, name) && !required.includes(name)

/** True for a list: agents often send `"class": "City"`. */
const isList = ({ properties }: TObject, name: string): boolean =>
  Object.hasOwn(properties, name) && properties[name]!.type === 'array'
