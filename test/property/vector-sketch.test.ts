/**
 * Searches by sketches find nearly all rows, only rows that pass, in the order of exact scores, and all rows when an exact
 * answer is requested. Also after changes and restarts, with vectors of any length, and combined with other conditions.
 */
import t, { type Test } from 'tap'
import { type Engine, openEngine } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { engineOptions } from '../support/engine/engine-options.ts'
import { readRequest } from '../support/engine/read-request.ts'
import { inTurn, isLong, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { referencePasses, referenceScore, type VectorQuestion } from '../support/reference/vectors.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { type FoundItems, type Metric, readItems, vectorModel } from '../support/engine/vector-items.ts'

const ROWS = 12_000
const CLUSTERS = 100
/** Number of questions for each metric, before and after each change of a world. */
const QUESTIONS = 4
const NARROW = 10
/** Number of vectors that are searched for by themselves. */
const ITSELF = 40

/** Sizes at which sketches pay: many numbers are compared for each of the nearest. */
interface Size {
  readonly dimension: number
  readonly nearest: number
}
const SIZES: readonly Size[] = [{ dimension: 160, nearest: 20 }, ...(isLong ? [{ dimension: 384, nearest: 50 }] : [])]
/** Share of these where another condition leaves half of the rows. */
const CONDITION_SHARE = 0.25

const METRICS = ['cosine', 'dot', 'euclidean'] as const

interface Shape {
  readonly isClustered: boolean
  /** Ratio of the length of the longest vector to that of the shortest. */
  readonly lengths: number
}

interface Row {
  readonly group: number
  readonly embedding: number[] | null
}

class World {
  private readonly rows = new Map<number, Row>()
  private readonly centres: number[][]
  private readonly notes: string[] = []
  private engine!: Engine
  private state: number
  private nextKey = 1

  constructor(
    private readonly t: Test,
    seed: number,
    private readonly size: Size,
    private readonly shape: Shape,
    private readonly path = temporaryFolder(t),
  ) {
    this.state = seed
    this.centres = Array.from({ length: CLUSTERS }, () => this.direction())
  }

  async open(): Promise<void> {
    this.engine = await openEngine(
      engineOptions({
        path: this.path,
        model: vectorModel({ dimension: this.size.dimension, hnsw: {} }),
        cacheBytes: 2 ** 22,
        memoryBytes: 2 ** 27,
        imageMinutes: 60,
        imageChanges: 1,
        vectorIndex: { minRows: 1e9, recall: 0.99 },
        onNote: text => void this.notes.push(text),
      }),
    )
    await this.engine.parts.writer.memoryFilled
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  async reopen(): Promise<void> {
    await this.close()
    await this.open()
    this.t.match(this.notes.join('\n'), /the memory comes from its image/)
  }

  async fill(): Promise<void> {
    while (this.rows.size < ROWS) {
      await this.save(Array.from({ length: 2_000 }, () => this.row(this.nextKey++, this.vector())))
    }
  }

  /**
   * Vectors that all point in about the direction of one; the first points there least and is followed by some without direction.
   * @returns the direction in which they point least
   */
  async fillOneWay(): Promise<number[]> {
    const [centre] = this.centres
    const oneWay = (share: number) =>
      this.direction().map((number, i) => Math.round(60 * (share * centre![i]! + number)))
    const first = [oneWay(0.4), ...Array.from({ length: 12 }, () => new Array<number>(this.size.dimension).fill(0))]
    while (this.rows.size < ROWS) {
      await this.save(Array.from({ length: 2_000 }, () => this.row(this.nextKey++, first.shift() ?? oneWay(1.4))))
    }
    return centre!.map(number => -number)
  }

  /** Gives some rows other vectors, deletes some, and inserts some: without a vector, with a zero vector, and with very long ones. */
  async change(): Promise<void> {
    const keys = [...this.rows.keys()].filter(() => this.random() < 0.1)
    const deleted = keys.filter(key => key % 3 === 0)
    const updated = keys.filter(key => key % 3 !== 0)
    const saves = updated.map(key => ({ __KEY: String(key), __STAMP: 1, ...this.row(key, this.anyVector()) }))
    await this.save([...saves, ...deleted.map(() => this.row(this.nextKey++, this.anyVector()))])
    const source = { kind: 'keys', keys: deleted.map(String) } as const
    await this.engine.saves.delete(readRequest('Item', 'ID', { source }), { atomic: false })
    for (const key of deleted) this.rows.delete(key)
  }

  async check(condition = '', passes = (_: Row): boolean => true): Promise<void> {
    for (let i = 0; i < QUESTIONS; i++) {
      const vector = this.vector()
      for (const metric of METRICS) await this.ask(vector, metric, condition, passes)
    }
  }

  /**
   * Asks for the nearest and for those above a narrow threshold, as planned and exactly.
   * @returns number of the nearest that are missed
   */
  async ask(vector: number[], metric: Metric, condition = '', passes = (_: Row): boolean => true): Promise<number> {
    const { t } = this
    const comparator = metric === 'euclidean' ? '<' : '>'
    const sign = metric === 'euclidean' ? 1 : -1
    const question: VectorQuestion = { vector, metric, comparator, threshold: null }
    const scored = [...this.rows].flatMap(([key, row]) => {
      const score = passes(row) ? referenceScore(question, row.embedding) : undefined
      return score === undefined ? [] : { key, row, score: sign * score }
    })
    const best = Float64Array.from(scored, ({ score }) => score).sort()
    const count = condition ? Math.floor(CONDITION_SHARE * this.size.nearest) : this.size.nearest
    const ranked = scored
      .filter(({ score }) => score <= best[2 * Math.max(count, NARROW)]!)
      .sort((a, b) => a.score - b.score || a.key - b.key)
      .map(({ key }) => key)
    const filter = `embedding ${comparator} :1${condition}`
    const found = RECALL[metric]
    const name = `${metric}${condition}`

    const nearest = { filter, params: toParams([{ vector, metric, threshold: null }]), top: count }
    const exactly = await readItems(this.engine, { ...nearest, exact: true })
    t.strictSame(exactly.keys, ranked.slice(0, count), `${name}: exactly`)
    const few = await readItems(this.engine, nearest)
    inOrder(t, few.keys, ranked, `${name}: the nearest`)
    found.nearest.add(few, ranked.slice(0, count))

    const narrow = { ...question, threshold: (sign * (best[NARROW - 1]! + best[NARROW]!)) / 2 }
    const expected = ranked.filter(key => referencePasses(narrow, this.rows.get(key)!.embedding))
    const above = {
      filter,
      params: toParams([{ vector, metric, threshold: narrow.threshold }]),
      top: 2 * NARROW,
      orderBy: `embedding ${sign < 0 ? 'desc' : 'asc'}`,
    }
    const all = await readItems(this.engine, { ...above, exact: true })
    t.strictSame(all.keys, expected, `${name}: all above a threshold`)
    const some = await readItems(this.engine, above)
    inOrder(t, some.keys, expected, `${name}: above a threshold`)
    found.narrow.add(some, expected)
    return ranked.slice(0, count).filter(key => !few.keys.includes(key)).length
  }

  /** The single nearest row must be found; among many nearest rows one may be missed. */
  async askForItself(): Promise<void> {
    const { t } = this
    const stored = [...this.rows].filter(([, { embedding }]) => embedding?.some(number => number !== 0))
    for (let i = 0; i < ITSELF; i++) {
      const [key, { embedding }] = stored[Math.floor((i * stored.length) / ITSELF)]!
      const params = toParams([{ vector: embedding, metric: 'cosine', threshold: null }])
      const { keys, plan } = await readItems(this.engine, { filter: 'embedding > :1', params, top: 1 })
      t.strictSame(keys, [key], 'a vector is nearest to itself')
      t.match(plan, /\(sketch\)/)
    }
  }

  private async save(rows: readonly object[]): Promise<void> {
    const body = Buffer.from(JSON.stringify(rows))
    await this.engine.saves.write({ kind: 'save', dataClass: 'Item', body, mode: 'update', atomic: true })
  }

  private row(ID: number, embedding: number[] | null): { ID: number } & Row {
    const row = { group: Math.floor(this.random() * 10), embedding }
    this.rows.set(ID, row)
    return { ID, ...row }
  }

  private anyVector(): number[] | null {
    const kind = this.random()
    if (kind < 0.1) return null
    if (kind < 0.105) return new Array<number>(this.size.dimension).fill(0)
    return kind < 0.115 ? this.vector().map(number => number * 1e30) : this.vector()
  }

  private vector(): number[] {
    const { isClustered, lengths } = this.shape
    const centre = isClustered ? this.centres[Math.floor(this.random() * CLUSTERS)] : undefined
    const length = 60 * lengths ** this.random()
    // Whole numbers are shorter as text.
    return this.direction().map((number, i) => Math.round(length * (centre ? centre[i]! + 0.7 * number : number)))
  }

  /** Numbers of an approximate normal distribution: all directions are equally likely. */
  private direction(): number[] {
    return Array.from(
      { length: this.size.dimension },
      () => this.random() + this.random() + this.random() + this.random() - 2,
    )
  }

  private random(): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return this.state / 2 ** 32
  }
}

/** Share of the expected rows that was found, and of searches that used sketches. */
class Share {
  private found = 0
  private expected = 0
  private sketched = 0
  private asked = 0

  add({ keys, plan }: FoundItems, expected: readonly number[]): void {
    const all = new Set(keys)
    this.found += expected.filter(key => all.has(key)).length
    this.expected += expected.length
    this.asked++
    if (plan.includes('(sketch)')) this.sketched++
  }

  check(t: Test, name: string, least: number): void {
    const { found, expected, sketched, asked } = this
    t.ok(sketched > 0.8 * asked, `${name}: ${sketched} of ${asked} by sketches`)
    t.ok(found >= least * expected, `${name}: ${found} of ${expected} are found`)
  }
}

/** @param ranked expected rows with some more than requested, which replace missed ones */
function inOrder(t: Test, keys: readonly number[], ranked: readonly number[], name: string): void {
  const all = new Set(keys)
  t.strictSame(
    keys,
    ranked.filter(key => all.has(key)),
    `${name} pass, and are in their order`,
  )
}

t.setTimeout(timeoutMs)

const recall = () => ({ nearest: new Share(), narrow: new Share() })
/** Recall over all worlds, because the recall of a few questions says little. */
const RECALL = { cosine: recall(), dot: recall(), euclidean: recall() }

for (const seed of seeds(isLong ? 3 : 1)) {
  for (const size of SIZES) {
    for (const isClustered of inTurn([true, false])) {
      for (const lengths of isLong ? [1, 4] : [isClustered ? 4 : 1]) ask(seed, size, { isClustered, lengths })
    }
  }
}

function ask(seed: number, size: Size, shape: Shape): void {
  const where = shape.isClustered ? 'around centres' : 'in all directions'
  const name = `${size.dimension} numbers ${where}, up to ${shape.lengths} times as long, seed ${seed}`
  t.test(`sketches find only rows that pass: ${name}`, async t => {
    const world = new World(t, seed, size, shape)
    await world.open()
    t.teardown(() => world.close())
    await world.fill()
    await world.askForItself()
    await world.check()
    await world.change()
    await world.check()
    await world.reopen()
    await world.check()
    await world.check(' and not(group >= 5)', ({ group }) => group < 5)
  })
}

t.test('when no vector is near, vectors without direction do not hide others', async t => {
  const world = new World(t, 1, SIZES[0]!, { isClustered: true, lengths: 1 })
  await world.open()
  t.teardown(() => world.close())
  const question = await world.fillOneWay()
  for (const metric of METRICS) t.ok((await world.ask(question, metric)) <= 1, `${metric}: misses one at most`)
})

for (const metric of METRICS) {
  t.test(`${metric}: sketches are used, and miss at most 1 % of the nearest and 0.5 % above thresholds`, async t => {
    RECALL[metric].nearest.check(t, 'the nearest', 0.99)
    RECALL[metric].narrow.check(t, 'above thresholds', 0.995)
  })
}
