/** An answer with decoded addresses, and with 0 for values that depend on time, once their form has been checked. */
export function comparable(value: unknown, name = ''): unknown {
  if (name === '__TIMESTAMP' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value))) return 0
  if (name === '__GlobalStamp' && Number.isSafeInteger(value)) return 0
  if (name === 'uri' || name === '__ENTITYSET') return decodeURIComponent(String(value)).replace(/\("(.*)"\)/s, '($1)')
  if (Array.isArray(value)) return value.map(each => comparable(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, comparable(each, key)]))
}

/** First difference of two JSON values, with properties in their order; an empty text if there is none. */
export function firstDifference(expected: unknown, got: unknown, path: string): string {
  if (isContainer(expected) && isContainer(got)) {
    const [a, b] = [Object.keys(expected), Object.keys(got)]
    if (a.join() !== b.join())
      return `${path}: expected ${a.join()}; got ${b.join()} ${'error' in got ? got.error : ''}`
    for (const key of a) {
      const difference = firstDifference(expected[key], got[key], `${path}/${key}`)
      if (difference !== '') return difference
    }
    return ''
  }
  return JSON.stringify(expected) === JSON.stringify(got)
    ? ''
    : `${path}: expected ${JSON.stringify(expected)}; got ${JSON.stringify(got)}`
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
