import type { StorageType } from '../value-type.ts'

/** Options of an attribute that change how single values are read and written. */
export interface TypeParameters {
  /** Only for dates: the time of day is dropped. */
  readonly simpleDate: boolean
  /** Only for decimals: digits after the point. */
  readonly scale: number
  /** Only for decimals: rows and answers write them as JSON texts. */
  readonly asText: boolean
}

/** The same options in a model or a declaration. */
export type ParameterOptions = { readonly [P in keyof TypeParameters]?: TypeParameters[P] | undefined }

/** Parameters of an attribute with these options; defaults for absent ones. */
export const parametersOf = ({
  simpleDate = false,
  scale = 0,
  asText = false,
}: ParameterOptions = {}): TypeParameters => ({ simpleDate, scale, asText })

export const PARAMETER_NAMES = Object.keys(parametersOf()) as readonly (keyof TypeParameters)[]

/** The options that are set, without other members of the object. */
export const parameterOptions = (options: ParameterOptions): ParameterOptions =>
  Object.fromEntries(PARAMETER_NAMES.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]])))

interface Typed extends TypeParameters {
  readonly type: StorageType
  readonly vector?: { readonly dimension: number } | undefined
}

/** The type with its parameters, for the fingerprints of row layouts. */
export const typeSignature = ({ type, simpleDate, scale, asText, vector }: Typed): readonly unknown[] => [
  type,
  simpleDate,
  ...(vector ? [vector.dimension] : []),
  ...(type === 'decimal' ? [scale, asText] : []),
]

/** True if the engine represents values of both types in the same way. */
export const isSameType = (a: Typed, b: Typed): boolean =>
  a.type === b.type &&
  a.simpleDate === b.simpleDate &&
  a.scale === b.scale &&
  a.vector?.dimension === b.vector?.dimension

/** The type with its parameters, for messages. */
export function typeName({ type, simpleDate, scale, vector }: Typed): string {
  if (type === 'decimal') return `${type} of scale ${scale}`
  if (vector) return `${type} (dimension ${vector.dimension})`
  return simpleDate ? `${type} (simpleDate)` : type
}
