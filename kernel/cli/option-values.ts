/** Error of flags that are invalid, alone or together. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** @throws {UsageError} it is not a number of days */
export function daysOf(text: string): number {
  const days = text.trim() === '' ? Number.NaN : Number(text)
  if (days >= 0 && days < Number.POSITIVE_INFINITY) return days
  throw new UsageError(`--keep-days ${JSON.stringify(text)}: give a number of days`)
}

/** Adds a value of an option that is given several times. */
export function addTo(text: string, texts: readonly string[] = []): string[] {
  return [...texts, text]
}

/** Parts of `name=value`, for messages. */
const PAIRS = {
  table: ['a table', 'the name of the dataclass'],
  view: ['a view', 'a column'],
  key: ['a table or a view', 'a column'],
} as const

/** Adds `name=value` to the pairs that were given before. A view may be given without a value: null. */
export function addPair(option: keyof typeof PAIRS) {
  const [subject, object] = PAIRS[option]
  return (text: string, pairs: Record<string, string | null> = {}): Record<string, string | null> => {
    const at = text.lastIndexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (name === '' || (at < 0 && option !== 'view'))
      throw new UsageError(`--${option} ${text}: give the name of ${subject}, "=" and ${object}`)
    return { ...pairs, [name]: at < 0 ? null : text.slice(at + 1) }
  }
}

export function list(text: string): string[] {
  return text.split(',').map(name => name.trim())
}

/** Adds `relation=Class.attribute` to the relations that were given before. */
export function addRelation(text: string, relations: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1)
    throw new UsageError(`--relation ${text}: give the name of a relation, "=", a dataclass, "." and an attribute`)
  return { ...relations, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Adds `attribute=type` to the types that were given before. */
export function addType(text: string, types: Record<string, string> = {}): Record<string, string> {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new UsageError(`--type ${text}: give the name of an attribute, "=" and a type`)
  return { ...types, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Adds `Name=attribute` to the columns that were given before. */
export function addColumn(text: string, columns: Record<string, string | null> = {}): Record<string, string | null> {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new UsageError(`--column ${text}: give the name of a column, "=" and an attribute or nothing`)
  return { ...columns, [text.slice(0, at)]: text.slice(at + 1) || null }
}

/** Reads the type of exact numbers: `number`, `string`, `decimal(4)`. */
export function numericType(text: string): { type: string; scale?: number; asText?: boolean } {
  const scale = /^decimal\((\d+)\)$/.exec(text)?.[1]
  if (text === 'number' || text === 'string') return { type: text }
  if (scale !== undefined && Number(scale) <= 18) return { type: 'decimal', scale: Number(scale), asText: true }
  throw new UsageError(`--numeric ${text}: give number, string or decimal(places), with up to 18 places`)
}

/** Returns a parser of an integer option. */
export function numberFrom(least: number, most: number): (text: string) => number {
  return text => {
    const number = Number(text)
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw new UsageError(`${JSON.stringify(text)}: give an integer from ${least} to ${most}`)
  }
}
