import type { TestAnswer } from '../servers/test-server.ts'

type Compared = Pick<TestAnswer, 'status' | 'headers' | 'text'>

/** Headers of time and connection, and the length, which follows from the text: not compared. */
const APART = new Set(['date', 'content-length', 'connection', 'keep-alive'])

/** Headers with random ids. */
const RANDOM = new Set(['set-cookie', 'etag', 'content-location'])

/** Stamps, times and durations, which may differ. */
const MASKS: readonly [RegExp, string][] = [
  [/"__GlobalStamp":\s?\d+/g, '"__GlobalStamp":0'],
  [/"__TIMESTAMP":\s?"[^"]*"/g, '"__TIMESTAMP":""'],
  [/"time":\s?[\d.e-]+/g, '"time":0'],
]

/** Difference of two answers, or undefined. */
export function difference(a: Compared, b: Compared): string | undefined {
  const [left, right] = [comparable(a), comparable(b)]
  if (left === right) return undefined
  let at = 0
  while (left[at] === right[at]) at++
  const part = (text: string) => text.slice(Math.max(0, at - 200), at + 200)
  return `a: ${part(left)}\nb: ${part(right)}`
}

function comparable({ status, headers, text }: Compared): string {
  const shown = Object.entries(headers)
    .filter(([name]) => !APART.has(name))
    .map(([name, value]) => `${name}: ${RANDOM.has(name) ? 'random' : value}`)
  return `${status}\n${shown.sort().join('\n')}\n${MASKS.reduce((masked, [pattern, mask]) => masked.replaceAll(pattern, mask), text)}`
}
