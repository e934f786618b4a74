import {
  type Attribute,
  type JsonSchema,
  TYPES,
  type StorageAttribute,
  type View,
  type DataClass,
} from '../../engine/index.ts'

/** Candidates for an example that matches a pattern. */
const TEXTS = ['text', 'A', 'AA', 'AAA', '1', '12', '123', 'a', 'ab', 'A1', 'AB/1', 'AA.01', 'a@b.org', '2020']

const VALUES: Readonly<Record<string, unknown>> = {
  string: 'text',
  uuid: '0123456789ABCDEF0123456789ABCDEF',
  bool: true,
  date: '2020-01-31T15:23:00.000Z',
  duration: 5_400_000,
  object: { note: 'text' },
}

/** Example value that the model allows; undefined if none is known, as for an image. */
export function sampleOf(attribute: StorageAttribute): unknown {
  const { type, simpleDate, minValue, maxValue, minLength = 0, maxLength = 100, pattern, choices, vector } = attribute
  if (choices) return choices[0]
  if (type === 'string') return textOf(minLength, maxLength, pattern)
  if (type === 'date' && simpleDate) return '2020-01-31'
  if (type in VALUES && type !== 'duration') return VALUES[type]
  if (vector) return vector.dimension <= 4 ? Array.from({ length: vector.dimension }, () => 0.5) : undefined
  if (!('isNumeric' in TYPES[type])) return undefined
  const usual = type === 'duration' ? 5_400_000 : 1
  return Math.min(Math.max(usual, minValue ?? usual), maxValue ?? usual)
}

function textOf(minLength: number, maxLength: number, pattern: string | undefined): string | undefined {
  const fits = (text: string): boolean => {
    if (text.length < minLength || text.length > maxLength) return false
    try {
      return pattern === undefined || new RegExp(`^(?:${pattern})$`, 'u').test(text)
    } catch {
      return false
    }
  }
  return [...TEXTS, 'x'.repeat(Math.min(minLength, 1_000))].find(fits)
}

/** Example value of a schema that an author has written, for simple schemas; undefined if none is known. */
export function sampleOfSchema(schema: JsonSchema): unknown {
  const { example, examples, default: usual, const: only, enum: words, anyOf, type } = schema
  const [first] = [
    example,
    ...((examples as unknown[] | undefined) ?? []),
    usual,
    only,
    ...((words as unknown[]) ?? []),
  ].filter(value => value !== undefined)
  if (first !== undefined) return first
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).map(sampleOfSchema).find(each => each !== undefined)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return textOfSchema(schema)
    case 'integer':
    case 'number':
      return numberOfSchema(schema)
    case 'boolean':
      return true
    case 'array':
      return arrayOfSchema(schema)
    case 'object':
      return objectOfSchema(schema)
    default:
      return null
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2020-01-31',
  time: '15:23:00Z',
  'date-time': '2020-01-31T15:23:00Z',
  duration: 'PT1H',
  email: 'ada@example.org',
  hostname: 'example.org',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.org/',
  uuid: '01234567-89ab-4def-8123-456789abcdef',
}

const textOfSchema = ({ format, minLength, maxLength, pattern }: JsonSchema): string | undefined =>
  FORMATS[String(format)] ??
  textOf((minLength as number) ?? 0, (maxLength as number) ?? 100, pattern as string | undefined)

function numberOfSchema({ type, ...bounds }: JsonSchema): number | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 1 } = bounds as Record<string, number>
  const [least = -Infinity, above = -Infinity] = [minimum, exclusiveMinimum]
  const [most = Infinity, below = Infinity] = [maximum, exclusiveMaximum]
  const fits = (value: number): boolean => value >= least && value <= most && value > above && value < below
  const [bottom, top] = [Math.max(least, above), Math.min(most, below)]
  const start = Math.ceil(Math.max(1, bottom) / multipleOf)
  const multiples = [start, start + 1, Math.floor(top / multipleOf)].map(each => each * multipleOf)
  const isFraction = type === 'number' && bounds.multipleOf === undefined
  return [...multiples, ...(isFraction ? [most, (bottom + top) / 2] : [])].find(fits)
}

function arrayOfSchema({ items, prefixItems = [], minItems = 0 }: JsonSchema): unknown[] | undefined {
  const first = (prefixItems as JsonSchema[]).map(sampleOfSchema)
  const missingCount = Math.max(0, Math.min(minItems as number, 100) - first.length)
  const rest = Array.from({ length: missingCount }, () => sampleOfSchema((items as JsonSchema) || {}))
  return complete([...first, ...rest])
}

function objectOfSchema({ properties = {}, required = [] }: JsonSchema): object | undefined {
  const names = required as string[]
  const values = names.map(name => sampleOfSchema((properties as Record<string, JsonSchema>)[name] ?? {}))
  return complete(values) && Object.fromEntries(names.map((name, i) => [name, values[i]]))
}

/** The values, unless one is undefined. */
export const complete = (values: readonly unknown[]): unknown[] | undefined =>
  values.includes(undefined) ? undefined : [...values]

/** Attributes whose values can be compared and sorted, the key last: examples of filters and orders use the first. */
export function comparable(dataClass: DataClass, view: View): StorageAttribute[] {
  const isComparable = (attribute: Attribute): attribute is StorageAttribute =>
    attribute.kind === 'storage' && !attribute.calculation && 'comparison' in TYPES[attribute.type]
  const attributes = view.attributes(dataClass).filter(isComparable)
  return [...attributes.filter(each => each !== dataClass.key), ...attributes.filter(each => each === dataClass.key)]
}

/** Text of a condition, as an example for an attribute. */
export const conditionOn = ({ name, type }: StorageAttribute): string =>
  type === 'string' ? `${name} = "a@"` : `${name} != null`
