import t from 'tap'
import { inTurn } from '../../../support/runner/rounds.ts'
import { randomOf } from '../../../support/base/random.ts'
import {
  SKETCHES_HEADER_BYTES,
  sketchBytes,
  sketchesBytes,
  type SketchQuestion,
  sketchQuestion,
  writeSketch,
} from '../../../../engine/vector/math/sketch.ts'

const DIMENSIONS = [64, 100, 128, 384, 480, 768]
/** Number of questions, which decides the precision: the errors of vectors near one question are about the same. */
const QUESTIONS = 400
const VECTORS = 3
/** Estimates of near vectors scatter a fourth more than others. */
const SCATTER = 1.3
const SCATTER_OF_UNRELATED = 1.15
const DEVIATIONS = 3.5
const MISSED = 0.005

/** Generator of approximately normally distributed numbers. */
type Normal = () => number

interface Case {
  readonly scatter: number
  question(dimension: number, normal: Normal, index: number): number[]
  /** @param index of the question and of the vector, both from 0 on */
  vector(question: readonly number[], normal: Normal, index: number): number[]
}

const numbers = (length: number, normal: Normal): number[] => Array.from({ length }, normal)
const oneHot = (length: number, hot: number): number[] => Array.from({ length }, (_, i) => (i === hot % length ? 1 : 0))
/** Vector with noise added, in proportion to its length. */
const beside = (vector: readonly number[], share: number, normal: Normal): number[] => {
  const unit = Math.hypot(...vector) / Math.sqrt(vector.length)
  return vector.map(number => number + share * unit * normal())
}
/** Vector with two numbers that are mostly far larger than the others. */
const withOutliers = (vector: readonly number[], at: number, normal: Normal): number[] =>
  vector.with(at % vector.length, 100 * normal()).with((7 * at + 1) % vector.length, 100 * normal())

const CASES: Record<string, Case> = {
  unrelated: {
    scatter: SCATTER_OF_UNRELATED,
    question: numbers,
    vector: ({ length }, normal) => numbers(length, normal),
  },
  'near each other': {
    scatter: SCATTER,
    question: numbers,
    vector: (question, normal, index) => beside(question, 0.1 + (index % 10) / 10, normal),
  },
  'nearly equal': {
    scatter: SCATTER,
    question: numbers,
    vector: (question, normal) => beside(question, 1e-3, normal),
  },
  'one-hot': {
    scatter: SCATTER_OF_UNRELATED,
    question: (dimension, _, index) => oneHot(dimension, index),
    vector: ({ length }, _, index) => oneHot(length, 3 * index),
  },
  'one-hot, of some': {
    scatter: SCATTER_OF_UNRELATED,
    question: numbers,
    vector: ({ length }, _, index) => oneHot(length, index),
  },
  'constant up to a number': {
    scatter: SCATTER,
    question: (dimension, normal, index) =>
      new Array<number>(dimension).fill(0).fill(normal(), 0, dimension - (index % dimension)),
    vector: (question, normal, index) => beside(question, (index % 30) / 20, normal),
  },
  'dominated by outliers': {
    scatter: SCATTER,
    question: (dimension, normal, index) => withOutliers(numbers(dimension, normal), index, normal),
    vector: (question, normal) => question.map(number => (Math.abs(number) > 5 ? number : normal())),
  },
}

/** Sketches of vectors one after the other, as the rows of a segment. */
function sketched(vectors: readonly Float32Array[]): Uint8Array {
  const dimension = vectors[0]!.length
  const sketches = new Uint8Array(sketchesBytes(dimension, 32 * Math.ceil(vectors.length / 32)))
  for (const [entry, vector] of vectors.entries()) writeSketch(vector, 0, dimension, sketches, 0, entry)
  return sketches
}

/** Sum of the table of a question for a row. */
function sumOf(table: Uint8Array, sketches: Uint8Array, entry: number, first = table.length / 32): number {
  const bytes = table.length / 32
  const block = SKETCHES_HEADER_BYTES + Math.floor(entry / 32) * 32 * bytes
  let sum = 0
  for (let i = 0; i < first; i++) {
    const byte = sketches[block + 32 * i + (entry % 32)]!
    sum += table[32 * i + (byte & 15)]! + table[32 * i + 16 + (byte >> 4)]!
  }
  return sum
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  let [dot, squares, others] = [0, 0, 0]
  for (const [i, number] of a.entries()) {
    dot += number * b[i]!
    squares += number * number
    others += b[i]! * b[i]!
  }
  return dot / Math.sqrt(squares) / Math.sqrt(others)
}

/** Conversion of sums to cosines, derived from the sums that the question gives for cosines. */
function scaleOf({ sumsOf }: SketchQuestion) {
  const sumOf = (cosine: number, deviations: number) => sumsOf(cosine, deviations).whole
  const many = 1e6
  const zero = sumOf(0, 0) + 0.5
  const perCosine = (sumOf(many, 0) - zero) / many
  return {
    estimate: (sum: number) => (sum - zero) / perCosine,
    deviation: (zero - sumOf(0, many)) / perCosine / many,
  }
}

for (const dimension of inTurn(DIMENSIONS)) {
  t.test(`cosines of ${dimension} numbers are estimated within the documented deviation`, async t => {
    let missed = 0
    let all = 0
    for (const [name, { scatter, question, vector }] of Object.entries(CASES)) {
      const random = randomOf(dimension)
      let state = random.integer(1, 2 ** 31 - 1)
      const uniform = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0
        return (state >>> 8) / 2 ** 24
      }
      const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
      let squares = 0
      for (let i = 0; i < QUESTIONS; i++) {
        const compared = Float32Array.from(question(dimension, normal, i))
        const vectors = Array.from({ length: VECTORS }, (_, j) =>
          Float32Array.from(vector([...compared], normal, i * VECTORS + j)),
        )
        const sketches = sketched(vectors)
        const asked = sketchQuestion(compared)!
        const { estimate, deviation } = scaleOf(asked)
        for (const [entry, stored] of vectors.entries()) {
          const cosine = cosineOf(compared, stored)
          const sum = sumOf(asked.table, sketches, entry)
          squares += ((estimate(sum) - cosine) / deviation) ** 2
          const { first, firstBytes, whole } = asked.sumsOf(cosine, DEVIATIONS)
          if (sum < whole || sumOf(asked.table, sketches, entry, firstBytes) < first) missed++
          all++
        }
      }
      const off = Math.sqrt(squares / (QUESTIONS * VECTORS))
      t.ok(off < scatter, `${name}: off by ${off.toFixed(2)} of the documented deviation`)
    }
    t.ok(missed <= MISSED * all, `${missed} of ${all} are more than ${DEVIATIONS} deviations below`)
  })
}

t.test('vectors of too few or too many numbers have no sketch, and a vector of length 0 has no question', async t => {
  t.strictSame([1, 63, 64, 65, 100, 2048, 2049, 16_000].map(sketchBytes), [0, 0, 16, 20, 28, 512, 0, 0])
  t.equal(sketchQuestion(new Float32Array(63).fill(1)), undefined)
  t.equal(sketchQuestion(new Float32Array(2049).fill(1)), undefined)
  t.equal(sketchQuestion(new Float32Array(64)), undefined)
})

t.test('lengths do not matter, however short or long a vector is', async t => {
  const direction = Array.from({ length: 100 }, (_, i) => Math.sin(i * i))
  const scales = [1e-38, 1e-20, 1, 1e20, 3e38]
  const vectors = scales.map(scale => Float32Array.from(direction, number => number * scale))
  const sketches = sketched([...vectors, new Float32Array(100)])
  for (const [entry, vector] of vectors.entries()) {
    const asked = sketchQuestion(vector)!
    const { estimate, deviation } = scaleOf(asked)
    t.ok(asked.table.some(sum => sum === 31) && asked.table.every(sum => sum <= 31), `${scales[entry]}: has a table`)
    for (let other = 0; other < vectors.length; other++) {
      const cosine = estimate(sumOf(asked.table, sketches, other))
      t.ok(Math.abs(cosine - 1) < 4 * deviation, `${scales[entry]} and ${scales[other]}: about ${cosine.toFixed(2)}`)
    }
  }
  const tiny = sketchQuestion(new Float32Array(100).fill(1e-45))!
  t.ok(Number.isFinite(tiny.sumsOf(1, 3.5).whole) && tiny.table.some(sum => sum === 31), 'the shortest that there is')
})
