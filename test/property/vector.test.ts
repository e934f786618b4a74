/**
 * Random sequences of inserts, updates, deletions, queries and restarts against the reference: exact queries are answered
 * exactly, and an index may miss a few rows, but never finds a wrong one.
 */
import { inTurn, isLong, seedOf } from '../support/runner/rounds.ts'
import t, { type Test } from 'tap'
import { type Engine, type EngineOptions, openEngine } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { engineOptions } from '../support/engine/engine-options.ts'
import { readRequest } from '../support/engine/read-request.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { referenceAnswer, referenceScore, type VectorQuestion } from '../support/reference/vectors.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { type Metric, readItems, vectorModel } from '../support/engine/vector-items.ts'
import { until } from '../support/base/until.ts'

const DIMENSION = 24
const CLUSTERS = 12
const ROUNDS = isLong ? 8 : 2
/** Number of rows: an index is used for the nearest 20 only if there are many more. */
const ROWS = 2_000
/** Minimum recall of all worlds together, and of one, whose few questions may include one that an index answers badly. */
const LEAST_RECALL = { all: 0.98, world: 0.9 }

const all = { expected: 0, found: 0 }

interface Row {
  group: number
  embedding: number[] | null
  stamp: number
}

const INDEX = { minRows: 300, recall: 0.5, always: true }
const SETTINGS: Record<string, Partial<EngineOptions>> = {
  'in shared memory, by an index': { memoryBytes: 2 ** 26, vectorIndex: INDEX },
  'in shared memory, by scans': { memoryBytes: 2 ** 26, vectorIndex: { ...INDEX, minRows: 1e9 } },
  'from LMDB, by an index': { memoryBytes: 0, cacheBytes: 2 ** 22, vectorIndex: INDEX },
}

class World {
  private readonly rows = new Map<number, Row>()
  private readonly centres: number[][]
  private engine!: Engine
  private nextKey = 1
  private expected = 0
  private found = 0
  usedIndex = 0

  constructor(
    private readonly random: Random,
    private readonly path: string,
    private readonly metric: Metric,
    private readonly options: Partial<EngineOptions>,
  ) {
    this.centres = Array.from({ length: CLUSTERS }, () => this.numbers())
  }

  async open(): Promise<void> {
    this.engine = await openEngine(
      engineOptions({
        path: this.path,
        model: vectorModel({ dimension: DIMENSION, metric: this.metric, hnsw: { m: 12, ef: 150 } }),
        ...this.options,
      }),
    )
    this.engine.warmUp()
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  async restart(): Promise<void> {
    await this.close()
    await this.open()
  }

  get recall(): number {
    return this.expected === 0 ? 1 : this.found / this.expected
  }

  countRecall(): void {
    all.expected += this.expected
    all.found += this.found
  }

  /** In some rounds, waits until an index is made; in others, queries run while it is behind. */
  async idle(t: Test, round: number): Promise<void> {
    if (!this.options.vectorIndex || this.options.vectorIndex.minRows > 1e6 || round % 2 === 1) return
    await until(async () => (await this.plan()).includes('[index'))
    t.match(await this.plan(), /\[index/, 'the index is ready')
  }

  async change(count: number): Promise<void> {
    const { random } = this
    const saves: object[] = []
    const deleted: number[] = []
    for (let i = 0; i < count; i++) {
      const keys = [...this.rows.keys()]
      const key = random.chance(0.5) && keys.length > ROWS / 2 ? random.pick(keys) : undefined
      if (key !== undefined && (deleted.includes(key) || saves.some(row => (row as { ID?: number }).ID === key)))
        continue
      if (key !== undefined && random.chance(0.4)) {
        deleted.push(key)
        continue
      }
      const row = { group: random.integer(0, 9), embedding: this.embedding() }
      if (key === undefined) {
        const ID = this.nextKey++
        this.rows.set(ID, { ...row, stamp: 1 })
        saves.push({ ID, ...row })
      } else {
        const before = this.rows.get(key)!
        saves.push({ __KEY: String(key), __STAMP: before.stamp, ID: key, ...row })
        this.rows.set(key, { ...row, stamp: before.stamp + 1 })
      }
    }
    const body = Buffer.from(JSON.stringify(saves))
    const { entities } = await this.engine.saves.write({
      kind: 'save',
      dataClass: 'Item',
      body,
      mode: 'update',
      atomic: false,
    })
    for (const { failure, key, stamp } of entities as { failure?: unknown; key?: string; stamp?: number }[]) {
      if (failure) throw new Error(JSON.stringify(failure))
      if (key !== undefined && stamp !== undefined) this.rows.get(Number(key))!.stamp = stamp
    }
    if (deleted.length === 0) return
    const source = { kind: 'keys', keys: deleted.map(String) } as const
    await this.engine.saves.delete(readRequest('Item', 'ID', { source }), { atomic: false })
    for (const key of deleted) this.rows.delete(key)
  }

  /** Asks a random question, as planned and exactly. */
  async check(t: Test): Promise<void> {
    const { random } = this
    const metric = random.chance(0.7) ? this.metric : random.pick(['cosine', 'dot', 'euclidean'] as const)
    const isHigh = metric !== 'euclidean'
    const vector = random.chance(0.03) ? new Array(DIMENSION).fill(0) : this.near(random.pick(this.centres))
    const scores = [...this.rows.values()].flatMap(
      row => referenceScore({ vector, metric, comparator: '>', threshold: 0 }, row.embedding) ?? [],
    )
    scores.sort((a, b) => (isHigh ? b - a : a - b))
    const wanted = random.pick([0, 3, 20, 100, 500])
    const threshold = random.chance(0.4) ? null : ((scores[wanted] ?? 0) + (scores[wanted + 1] ?? 0)) / 2
    const comparator = random.chance(0.8) ? (isHigh ? '>' : '<=') : random.pick(['<', '<=', '>', '>='] as const)
    const group = random.chance(0.6) ? undefined : random.integer(1, 9)
    const question: VectorQuestion = { vector, metric, comparator, threshold }
    const rows = new Map([...this.rows].filter(([, row]) => group === undefined || row.group < group))
    const matches = referenceAnswer(question, rows)
    const top = threshold === null ? 20 : 1_000
    const filter = `embedding ${comparator} :1${group === undefined ? '' : ` and group < ${group}`}`
    const request = {
      filter,
      params: toParams([{ vector, metric, threshold }]),
      orderBy: `embedding ${isHigh ? 'desc' : 'asc'}, ID`,
      top,
    }
    const expected = matches.slice(0, top)
    const exact = await readItems(this.engine, { ...request, exact: true })
    t.same(exact.keys, expected, `${metric} ${filter} ${threshold}`)
    t.equal(exact.count, matches.length)

    const answer = await readItems(this.engine, request)
    if (answer.plan.includes('[index')) this.usedIndex++
    else t.same(answer.keys, expected, 'a scan leaves nothing out')
    const right = new Set(matches)
    t.ok(
      answer.keys.every(key => right.has(key)),
      'everything found passes',
    )
    const found = new Set(answer.keys)
    this.expected += expected.length
    this.found += expected.filter(key => found.has(key)).length
  }

  private async plan(): Promise<string> {
    const vector = this.near(this.centres[0]!)
    const params = toParams([{ vector, metric: this.metric, threshold: null }])
    return (await readItems(this.engine, { filter: 'embedding > :1', params, top: 1 })).plan
  }

  private numbers(): number[] {
    return Array.from({ length: DIMENSION }, () => this.random.integer(-1000, 1000) / 1000)
  }

  private near(centre: readonly number[]): number[] {
    return centre.map(number => number + this.random.integer(-300, 300) / 1000)
  }

  private embedding(): number[] | null {
    if (this.random.chance(0.03)) return null
    if (this.random.chance(0.02)) return new Array<number>(DIMENSION).fill(0)
    const vector = this.near(this.random.pick(this.centres))
    // Near the limit of Float32, where products overflow it.
    return this.random.chance(0.01) ? vector.map(number => number * 1e37) : vector
  }
}

const METRICS = ['cosine', 'dot', 'euclidean'] as const
for (const [place, metric] of METRICS.entries()) {
  // Usually each metric and each setting once, combined differently by another seed.
  const all = Object.entries(SETTINGS)
  for (const [name, options] of inTurn([...all.slice(place), ...all.slice(0, place)])) {
    t.test(`${metric}, ${name}`, async t => {
      const random = randomOf(seedOf(7))
      const world = new World(random, temporaryFolder(t), metric, options)
      await world.open()
      t.teardown(() => world.close())
      for (let round = 0; round < ROUNDS; round++) {
        await world.change(round === 0 ? ROWS : random.integer(1, 60))
        if (round % 4 === 3) await world.restart()
        await world.idle(t, round)
        for (let i = 0; i < 8; i++) await world.check(t)
      }
      t.ok(world.recall >= LEAST_RECALL.world, `recall ${world.recall}`)
      if (name.includes('index')) world.countRecall()
      t.equal(world.usedIndex > 0, name.includes('index'), 'an index was used where there is one')
    })
  }
}

t.test('indexes reach the minimum recall over all worlds', async t => {
  t.ok(all.found >= LEAST_RECALL.all * all.expected, `${all.found} of ${all.expected} found`)
})
