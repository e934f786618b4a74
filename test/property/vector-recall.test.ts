/**
 * Recall of an index on seeded data around centres: nearly all rows, in the order of exact scores, equal scores by row.
 */
import t from 'tap'
import { type Engine, openEngine } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { engineOptions } from '../support/engine/engine-options.ts'
import { randomOf } from '../support/base/random.ts'
import { referenceScore, type VectorQuestion } from '../support/reference/vectors.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { type Metric, readItems, vectorModel } from '../support/engine/vector-items.ts'
import { inTurn, seedOf } from '../support/runner/rounds.ts'
import { until } from '../support/base/until.ts'

const ROWS = 5_000
const DIMENSION = 32
const CLUSTERS = 50
const QUESTIONS = 20
const NEAREST = 50
/** Few enough that the index is used, unless too many of them are among the rows that the planner samples. */
const NARROW = 5

for (const metric of inTurn(['cosine', 'dot', 'euclidean'] as const)) {
  t.test(`${metric}: an index finds 99 % of the nearest, and 99.9 % of the few above a threshold`, async t => {
    const random = randomOf(seedOf(11))
    const numbers = () => Array.from({ length: DIMENSION }, () => random.integer(-1000, 1000) / 1000)
    const centres = Array.from({ length: CLUSTERS }, numbers)
    // All of one length, like embeddings: with different lengths, products lead a graph astray.
    const vector = () => {
      const centre = random.pick(centres)
      const somewhere = centre.map(number => number + random.integer(-300, 300) / 1000)
      return somewhere.map(number => number / Math.hypot(...somewhere))
    }
    const vectors = Array.from({ length: ROWS }, vector)
    // Some are equal: their order is that of the rows.
    for (let row = 100; row < ROWS; row += 100) vectors[row] = vectors[row - 1]!

    const engine = await openWith(vectors, metric, temporaryFolder(t))
    t.teardown(() => engine.close())
    const isHigh = metric !== 'euclidean'
    const hits = { nearest: 0, narrow: 0 }
    let indexed = 0
    for (let n = 0; n < QUESTIONS; n++) {
      const question = { vector: vector(), metric, comparator: isHigh ? '>' : '<', threshold: null } as const
      const scores = vectors.map(stored => referenceScore(question, stored)!)
      const byScore = (a: number, b: number) => (isHigh ? scores[b]! - scores[a]! : scores[a]! - scores[b]!) || a - b
      const ranked = vectors.map((_, row) => row).sort(byScore)

      const nearest = await ask(engine, question, NEAREST)
      t.match(nearest.plan, /\[index/, 'an index is used for the nearest')
      t.strictSame(nearest.keys, nearest.keys.toSorted(byScore), 'the nearest are in the order of their scores')
      hits.nearest += overlap(nearest.keys, ranked.slice(0, NEAREST))

      const threshold = (scores[ranked[NARROW - 1]!]! + scores[ranked[NARROW]!]!) / 2
      const narrow = await ask(engine, { ...question, threshold }, NARROW + 1)
      if (narrow.plan.includes('[index')) indexed++
      const expected = ranked
        .slice(0, NARROW)
        .filter(row => (isHigh ? scores[row]! > threshold : scores[row]! < threshold))
      t.equal(overlap(narrow.keys, expected), narrow.keys.length, 'all rows found are above the threshold')
      hits.narrow += overlap(narrow.keys, expected) + NARROW - expected.length

      const middle = ranked.findIndex((row, i) => i > ROWS / 2 && scores[row] !== scores[ranked[i - 1]!])
      const wide = (scores[ranked[middle - 1]!]! + scores[ranked[middle]!]!) / 2
      const params = toParams([threshold, wide].map(each => ({ vector: question.vector, metric, threshold: each })))
      const comparator = isHigh ? '>' : '<'
      const either = await readItems(engine, {
        filter: `embedding ${comparator} :1 or embedding ${comparator} :2`,
        params,
        top: 1,
      })
      t.equal(either.count, middle, 'a wide threshold is complete')
      t.ok(
        either.plan.split('[index').length <= 2,
        'and it is scanned, though the query also searches the index for the same vector',
      )
    }
    const recall = { nearest: hits.nearest / (QUESTIONS * NEAREST), narrow: hits.narrow / (QUESTIONS * NARROW) }
    t.ok(indexed > QUESTIONS / 2, `an index is used for ${indexed} thresholds`)
    t.ok(recall.nearest >= 0.99, `recall of the nearest is ${recall.nearest}`)
    t.ok(recall.narrow >= 0.999, `recall above thresholds is ${recall.narrow}`)
  })
}

const overlap = (found: readonly number[], expected: readonly number[]): number =>
  found.filter(row => expected.includes(row)).length

async function openWith(vectors: readonly number[][], metric: Metric, path: string): Promise<Engine> {
  let onReady = (): void => {}
  const ready = new Promise<void>(resolve => {
    onReady = resolve
  })
  const engine = await openEngine(
    engineOptions({
      path,
      model: vectorModel({ dimension: DIMENSION, metric, hnsw: {} }),
      memoryBytes: 2 ** 26,
      vectorIndex: { minRows: 1_000, recall: 0.99, always: true },
      onNote: text => {
        if (text.startsWith('the index of')) onReady()
      },
    }),
  )
  const body = Buffer.from(JSON.stringify(vectors.map((embedding, ID) => ({ ID, embedding }))))
  await engine.saves.write({ kind: 'save', dataClass: 'Item', body, mode: 'update', atomic: true })
  engine.warmUp()
  await ready
  // Waits until the rows held out for the measurement are inserted, and all threads know it.
  const question = { vector: vectors[0]!, metric, comparator: '>', threshold: null } as const
  await until(async () => (await ask(engine, question, 1)).plan.includes('[index'))
  return engine
}

const ask = (engine: Engine, { vector, metric, comparator, threshold }: VectorQuestion, top: number) =>
  readItems(engine, { filter: `embedding ${comparator} :1`, params: toParams([{ vector, metric, threshold }]), top })
