import { rounded } from '../../base/exact-json.ts'

/**
 * A vector as it is compared: Float32.
 * @param json what a client sent
 * @param fail makes the error of what is wrong with it
 */
export function readFloats<E>(json: unknown, dimension: number, fail: (received: string) => E): Float32Array | E {
  if (!Array.isArray(json)) return fail(json === null ? 'null' : `a value of type ${typeof json}`)
  if (json.length !== dimension) return fail(`an array of ${json.length}`)
  const floats = new Float32Array(dimension)
  for (let i = 0; i < dimension; i++) {
    const element: unknown = json[i]
    // It may have more digits than a double.
    const number = rounded(element)
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number))) {
      return fail(`an array with ${received(number)} at position ${i}`)
    }
    floats[i] = number
  }
  return floats
}

/** The numbers of a vector as they are stored and sent: each the shortest decimal that is the same Float32. */
export function readVector<E>(json: unknown, dimension: number, fail: (received: string) => E): number[] | E {
  const floats = readFloats(json, dimension, fail)
  return floats instanceof Float32Array ? Array.from(floats, shortestDecimal) : floats
}

function received(element: unknown): string {
  if (typeof element === 'number') return `${element}, which a Float32 cannot hold,`
  if (element === null) return 'null'
  if (typeof element === 'object') return Array.isArray(element) ? 'an array' : 'an object'
  return element === undefined ? 'nothing' : `a ${typeof element}`
}

/** Numbers below it have a decimal with at most 11 places that is not needlessly long, unless they are very small. */
const LARGE = 1e7

/** 9 digits tell any Float32 from its neighbours; fewer places do for most, and are found faster. */
function shortestDecimal(float: number): number {
  for (let power = 1e5; power <= 1e11 && Math.abs(float) < LARGE; power *= 10) {
    const decimal = Math.round(float * power) / power
    if (Math.fround(decimal) === float) return decimal
  }
  return Number(float.toPrecision(9))
}
