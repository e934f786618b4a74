/**
 * Queries by an index while rows are inserted, changed and deleted: what a search found may be out of date when the query
 * continues. Each answer is consistent all the same: its scores are those of its vectors, in order, and pass; and it includes
 * everything written before the query.
 */
import t from 'tap'
import type { Engine } from '../../engine/index.ts'
import type { VectorPool } from '../../engine/placement/pool/vector-pool.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { openTestEngine } from '../support/engine/test-engine.ts'
import { readJson, readRequest } from '../support/engine/read-request.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { referenceScore } from '../support/reference/vectors.ts'
import { readItems, vectorModel } from '../support/engine/vector-items.ts'

const ROWS = 4_000
const DIMENSION = 32
const CENTRES = 8
const WRITES = isLong ? 2_000 : 80
/** Number of rows changed at once. */
const CHANGED = 5
/** Milliseconds after which the index has usually caught up. */
const PAUSE = 2
const CLIENTS = 4
const NEAREST = 10
const MOVES = 10

t.setTimeout(timeoutMs)

const random = randomOf(seedOf(12))
const numbers = (spread: number) => Array.from({ length: DIMENSION }, () => random.integer(-spread, spread) / 1000)
const centres = Array.from({ length: CENTRES }, () => numbers(1000))
const vector = () => {
  const beside = numbers(300)
  return random.pick(centres).map((number, i) => number + beside[i]!)
}

interface Opened {
  readonly engine: Engine
  /** Stamps of the rows. */
  readonly stamps: Map<number, number>
}

/** Opens rows with an index that is in use, for all tests. */
async function open(): Promise<Opened> {
  const engine = await openTestEngine(t, {
    model: vectorModel({ dimension: DIMENSION, hnsw: {} }),
    memoryBytes: 2 ** 26,
    vectorIndex: { minRows: 1_000, recall: 0.99, always: true },
  })
  engine.warmUp()
  const stamps = new Map<number, number>()
  await save(
    engine,
    stamps,
    Array.from({ length: ROWS }, (_, ID) => ID),
  )
  while (!(await readItems(engine, nearestTo(vector(), 1))).plan.includes('[index')) {
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return { engine, stamps }
}

const nearestTo = (to: readonly number[], top: number) => ({
  filter: 'embedding > :1',
  params: toParams([{ vector: to, threshold: null }]),
  top,
})

const opened = open()

t.test('a row that has moved away since the index found it is not found at its old place', async t => {
  const { engine, stamps } = await opened
  const { vectors } = (engine as unknown as { parts: { vectors: VectorPool } }).parts
  const search = vectors.search.bind(vectors)
  for (let i = 0; i < MOVES; i++) {
    const to = vector()
    const [nearest] = (await readItems(engine, nearestTo(to, 1))).keys
    vectors.search = async (...asked) => {
      let searched = await search(...asked)
      // Until the index has caught up, it returns no scores.
      while (!searched.found?.bounds) {
        await new Promise(resolve => setTimeout(resolve, 5))
        searched = await search(...asked)
      }
      await save(engine, stamps, [nearest!], [to.map(number => -number)])
      return searched
    }
    const { keys, plan } = await readItems(engine, nearestTo(to, NEAREST))
    vectors.search = search
    t.match(plan, /\[index/)
    t.equal(keys.includes(nearest!), keys.at(-1) === nearest, 'at most the last row that was found')
    t.not(keys[0], nearest)
  }
})

t.test('answers are consistent', async t => {
  const { engine, stamps } = await opened

  let isWriting = true
  let answers = 0
  let indexed = 0
  const wrong: unknown[] = []
  const client = async (): Promise<void> => {
    while (isWriting) {
      const question = {
        vector: vector(),
        metric: 'cosine',
        comparator: '>',
        threshold: random.pick([null, 0.9]),
      } as const
      const { vector: of, metric, threshold } = question
      const request = readRequest('Item', 'ID, embedding, __SCORE', {
        filter: 'embedding > :1',
        params: toParams([{ vector: of, metric, threshold }]),
        orderBy: 'embedding desc',
        top: NEAREST,
      })
      const { __ENTITIES, __queryPlan } = await readJson(engine, {
        ...request,
        output: { ...request.output, describe: { plan: true } },
      })
      answers++
      if (JSON.stringify(__queryPlan).includes('[index')) indexed++
      const scores = __ENTITIES.map(({ __SCORE }: { __SCORE: number }) => __SCORE)
      const expected = __ENTITIES.map(({ embedding }: { embedding: number[] }) => referenceScore(question, embedding))
      const fits = scores.every(
        (score: number, i: number) =>
          Math.abs(score - expected[i]) < 1e-9 && score > (threshold ?? -2) && !(i > 0 && score > scores[i - 1]),
      )
      const isWhole = threshold !== null || scores.length > NEAREST / 2
      if (!fits || !isWhole) wrong.push({ question, scores, expected })
    }
  }
  const writes = async (): Promise<void> => {
    for (let i = 0; i < WRITES && wrong.length === 0; i++) {
      const IDs = [...stamps.keys()]
      const [updated] = IDs.splice(random.integer(0, IDs.length - 1), 1)
      const first = random.integer(0, IDs.length - CHANGED)
      const [written] = await save(engine, stamps, [updated!, ROWS + i, ...IDs.slice(first, first + CHANGED)])
      const { keys } = await readItems(engine, nearestTo(written!, 1))
      if (keys[0] !== updated) wrong.push({ updated, keys })
      if (i % 10 === 9) await remove(engine, stamps, random.pick([...stamps.keys()]))
      await new Promise(resolve => setTimeout(resolve, PAUSE))
    }
    isWriting = false
  }
  await Promise.all([writes(), ...Array.from({ length: CLIENTS }, client)])
  t.strictSame(wrong.slice(0, 1), [], `${answers} answers`)
  t.ok(indexed > answers / 10, `${indexed} of ${answers} by the index`)
})

/** @returns the new vectors of these rows */
async function save(
  engine: Engine,
  stamps: Map<number, number>,
  IDs: readonly number[],
  vectors = IDs.map(vector),
): Promise<number[][]> {
  const elements = IDs.map((ID, i) => {
    const __STAMP = stamps.get(ID)
    stamps.set(ID, (__STAMP ?? 0) + 1)
    return { ...(__STAMP && { __KEY: String(ID), __STAMP }), ID, embedding: vectors[i] }
  })
  const body = Buffer.from(JSON.stringify(elements))
  await engine.saves.write({ kind: 'save', dataClass: 'Item', body, mode: 'update', atomic: true })
  return vectors
}

async function remove(engine: Engine, stamps: Map<number, number>, ID: number): Promise<void> {
  const source = { kind: 'keys', keys: [String(ID)] } as const
  await engine.saves.delete(readRequest('Item', 'ID', { source }), { atomic: false })
  stamps.delete(ID)
}
