import { isLongNumber, roundNumbers } from '../../base/exact-json.ts'
import { excerpt } from '../../base/text/excerpt.ts'

/**
 * Reads a vector in the form that is compared: Float32.
 * @param json value from a client
 * @param fail makes the error for a value that is not valid
 */
export function readFloats<E>(json: unknown, dimension: number, fail: (description: string) => E): Float32Array | E {
  if (!Array.isArray(json)) return fail(json === null ? 'null' : `a value of type ${typeof json}`)
  if (json.length !== dimension) return fail(`an array of ${json.length}`)
  const floats = new Float32Array(dimension)
  for (let i = 0; i < dimension; i++) {
    const element: unknown = json[i]
    // A number may have more digits than a double.
    const number = roundNumbers(element)
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number))) {
      return fail(`an array with ${describeElement(element)} at position ${i}`)
    }
    floats[i] = number
  }
  return floats
}

/** Reads a vector in the form that is stored and sent: each number the shortest decimal of its Float32. */
export function readVector<E>(json: unknown, dimension: number, fail: (description: string) => E): number[] | E {
  const floats = readFloats(json, dimension, fail)
  return floats instanceof Float32Array ? Array.from(floats, shortestDecimal) : floats
}

function describeElement(element: unknown): string {
  if (typeof element === 'number' || typeof element === 'bigint' || isLongNumber(element))
    return `${excerpt(String(element))}, which a Float32 cannot hold,`
  if (element === null) return 'null'
  if (typeof element === 'object') return Array.isArray(element) ? 'an array' : 'an object'
  return element === undefined ? 'nothing' : `a ${typeof element}`
}

/** Numbers below this have a decimal of at most 11 places that is no longer than necessary, unless they are very small. */
const LARGE = 1e7

/** Shortest decimal of a Float32. 9 digits always identify it; for most numbers fewer places do, and are found faster. */
function shortestDecimal(float: number): number {
  for (let power = 1e5; power <= 1e11 && Math.abs(float) < LARGE; power *= 10) {
    const decimal = Math.round(float * power) / power
    if (Math.fround(decimal) === float) return decimal
  }
  return Number(float.toPrecision(9))
}
