/**
 * Vectors of all lengths that a Float32 can have, many of them equal, and thresholds that equal one of the scores or its
 * neighbour: bounds of scores cannot decide there, and must not decide wrongly.
 */
import t, { type Test } from 'tap'
import type { Engine } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { openTestEngine } from '../support/engine/test-engine.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { inOrder, referencePasses, referenceScore, type VectorQuestion } from '../support/reference/vectors.ts'
import { insertRows } from '../support/servers/test-server.ts'
import { readItems, vectorModel } from '../support/engine/vector-items.ts'

const QUESTIONS = isLong ? 400 : 16
/** More than a segment. */
const ROWS = 4_300
const PAGE = 30
const DIMENSIONS = [1, 3, 16, 17, 40]
/** Roots of products and products of roots round differently. */
const COSINE_ROUNDING = 1e-14

type Rows = ReadonlyMap<number, { readonly embedding: readonly number[] | null }>

class Source {
  private readonly made: number[][] = []

  constructor(
    private readonly random: Random,
    private readonly dimension: number,
  ) {}

  /** Often an earlier vector, or nearly one. */
  vector(): number[] {
    const { random, made } = this
    let vector = made.length > 10 && random.chance(0.5) ? [...random.pick(made)] : this.fresh()
    if (random.chance(0.3)) vector[random.integer(0, this.dimension - 1)]! *= 1 + random.pick([-2, -1, 1, 2]) * 2 ** -23
    if (random.chance(0.15)) {
      const scale = random.pick([1e-44, 1e-38, 1e-30, 1e-19, 1e-12, 1e12, 1e18, 1e19, 1e30, 1e38])
      vector = vector.map(number => number * scale)
    }
    const singles = vector.map(number => Math.max(-3.4e38, Math.min(3.4e38, Math.fround(number))))
    made.push(singles)
    return singles
  }

  private fresh(): number[] {
    const { random } = this
    if (random.chance(0.05)) return new Array(this.dimension).fill(random.pick([0, 1, -1, 0.1]))
    const isSparse = random.chance(0.2)
    return Array.from({ length: this.dimension }, () =>
      isSparse && random.chance(0.8) ? 0 : random.integer(-1e6, 1e6) / 1e6,
    )
  }
}

const open = (t: Test, dimension: number, memoryBytes: number): Promise<Engine> =>
  openTestEngine(t, { model: vectorModel({ dimension }), memoryBytes })

async function ask(
  engine: Engine,
  question: VectorQuestion,
  part: { top: number; orderBy?: string },
): Promise<number[]> {
  const { vector, metric, comparator, threshold } = question
  const params = toParams([{ vector, metric, threshold }])
  return (await readItems(engine, { filter: `embedding ${comparator} :1`, params, ...part })).keys
}

/** A number, or the double next to it. */
function beside(number: number, step: -1 | 0 | 1): number {
  if (step === 0 || number === 0) return number
  const bits = new BigInt64Array(Float64Array.of(number).buffer)
  bits[0]! += BigInt(step)
  return new Float64Array(bits.buffer)[0]!
}

function questionOf(random: Random, source: Source, rows: Rows): VectorQuestion {
  const metric = random.pick(['cosine', 'dot', 'euclidean'] as const)
  const comparator = random.pick(['<', '<=', '>', '>='] as const)
  const vector = source.vector()
  const { embedding } = rows.get(random.integer(1, ROWS))!
  const score = referenceScore({ vector, metric, comparator, threshold: null }, embedding) ?? 0
  const thresholds = [beside(score, -1), score, score, beside(score, 1), Math.fround(score), 0]
  const threshold = random.pick(thresholds.filter(Number.isFinite))
  return { vector, metric, comparator, threshold }
}

t.setTimeout(timeoutMs)
for (const seed of seeds(isLong ? DIMENSIONS.length : 2)) {
  const dimension = DIMENSIONS[seed % DIMENSIONS.length]!
  t.test(`world ${seed}, ${dimension} numbers: thresholds that are scores`, async t => {
    const random = randomOf(seed)
    const source = new Source(random, dimension)
    const engine = await open(t, dimension, seed % 3 ? 2 ** 26 : 0)
    const rows: Rows = new Map(
      Array.from({ length: ROWS }, (_, i) => [i + 1, { embedding: random.chance(0.03) ? null : source.vector() }]),
    )
    await insertRows(
      engine.saves,
      'Item',
      [...rows].map(([ID, { embedding }]) => ({ ID, embedding })),
    )
    await engine.parts.writer.memoryFilled
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const question = questionOf(random, source, rows)
      const rounding = question.metric === 'cosine' ? COSINE_ROUNDING : 0
      const found = new Set(await ask(engine, question, { top: ROWS }))
      const wrong = [...rows].filter(([key, { embedding }]) => {
        if (referencePasses(question, embedding) === found.has(key)) return false
        return !(Math.abs(referenceScore(question, embedding)! - question.threshold!) <= rounding)
      })
      if (wrong.length > 0) {
        t.fail(`seed ${seed}: ${JSON.stringify(question)} is wrong for ${JSON.stringify(wrong.slice(0, 3))}`)
        return
      }
      // By score, and by key where scores are equal.
      const direction = question.metric === 'euclidean' ? 'asc' : 'desc'
      const all = { ...question, threshold: null }
      const page = await ask(engine, all, { top: PAGE, orderBy: `embedding ${direction}, ID` })
      const scored = [...rows].filter(([, { embedding }]) => referenceScore(all, embedding) !== undefined)
      const expected = inOrder(all, scored).slice(0, PAGE)
      const scoreOf = (key: number): number => referenceScore(all, rows.get(key)!.embedding)!
      const isInPlace = (key: number, place: number): boolean =>
        key === expected[place] || Math.abs(scoreOf(key) - scoreOf(expected[place]!)) <= rounding
      if (page.length !== expected.length || !page.every(isInPlace)) {
        t.fail(`seed ${seed}: ${JSON.stringify(question)} has ${page} and not ${expected}`)
        return
      }
    }
    t.pass()
  })
}
