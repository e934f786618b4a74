/** Random changes, questions, stops and damage of a server with vectors, compared with a simple model. */
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../support/base/random.ts'
import { isLong } from '../support/runner/rounds.ts'
import { inOrder, referencePasses, referenceScore, type VectorQuestion } from '../support/reference/vectors.ts'
import type { Metric } from '../support/engine/vector-items.ts'
import { type Item, VectorServer, VectorSource } from './vectors.model.ts'

const ROWS = isLong ? 2_500 : 1_500

/** Rows that are being written, with an unknown outcome; null: deleted. */
type InFlight = Map<number, { after: Omit<Item, 'stamp'> | null; isAnswered: boolean }>

/** A filter, and its meaning. */
interface Condition {
  readonly filter: string
  /** Parameter `:2`. */
  readonly more?: readonly VectorQuestion[]
  matches(key: number, row: Item): boolean
}

export class Run {
  readonly server: VectorServer
  readonly rows = new Map<number, Item>()
  expected = 0
  found = 0
  private readonly source: VectorSource
  private nextKey = 1

  constructor(
    private readonly random: Random,
    folder: string,
    readonly metric: Metric,
  ) {
    this.server = new VectorServer(folder)
    this.source = new VectorSource(random)
  }

  async start(): Promise<void> {
    await this.server.start()
    await this.insert(ROWS)
    await this.settle()
  }

  /** @returns the first difference from the model */
  async step(): Promise<string | undefined> {
    const { random } = this
    if (this.rows.size < ROWS / 2) return this.insert(ROWS)
    // A start takes longer than all other steps together.
    if (random.chance(0.1))
      return random.pick([this.restart, this.kill, this.kill, this.damage, this.settle]).call(this)
    const changes = [this.insert, this.updateOne, this.updateMany, this.deleteKeys, this.deleteFiltered]
    const step = random.chance(0.5)
      ? random.pick(changes)
      : random.pick([this.questions, this.questions, this.entitySet])
    return step.call(this)
  }

  async insert(count = this.random.pick([1, 1, 30, 300])): Promise<string | undefined> {
    await this.save(Array.from({ length: count }, () => ({ ID: this.nextKey++, ...this.values() })))
    return undefined
  }

  private async updateOne(): Promise<string | undefined> {
    const [key] = this.some(1)
    const { embedding } = this.values()
    const { status, bytes } = await this.server.send('POST', '/Item?$method=update', {
      __KEY: key,
      __STAMP: this.rows.get(key!)!.stamp,
      embedding,
    })
    if (status !== 200) return `an update is answered with ${status}: ${bytes}`
    const { __STAMP } = JSON.parse(bytes.toString())
    this.rows.set(key!, { ...this.rows.get(key!)!, embedding, stamp: __STAMP })
    const isFirst = (await this.nearestTo(embedding)) === key
    const hasDirection = embedding?.some(number => number !== 0)
    if (hasDirection && this.metric !== 'dot' && !isFirst) return `${key} is not where it was put`
    await this.server.post(`/Item(${key})?$method=delete`)
    this.rows.delete(key!)
    return (await this.nearestTo(embedding)) === key ? `${key} is gone and still found` : this.question()
  }

  private async nearestTo(vector: number[] | null): Promise<number | undefined> {
    const nearest = { vector: vector ?? this.source.vector(), metric: this.metric, threshold: null }
    return (await this.server.ask({ $filter: 'embedding > :1', $params: [nearest], $top: 1 })).keys[0]
  }

  /** Some rows change only attributes that are not vectors. */
  private async updateMany(): Promise<string | undefined> {
    const keys = this.some(this.random.pick([20, 400]))
    await this.save(keys.map(ID => ({ ID, ...this.values(), ...(this.random.chance(0.2) && this.onlyGroup(ID)) })))
    return undefined
  }

  private async deleteKeys(): Promise<string | undefined> {
    const keys = this.some(this.random.pick([1, 40]))
    await this.server.post(`/Item(${keys.join(',')})?$method=delete`)
    for (const key of keys) this.rows.delete(key)
    return this.question()
  }

  /** A deletion must find all rows of its filter, with an index too. */
  private async deleteFiltered(): Promise<string | undefined> {
    const question = this.compare(this.random.pick([5, 60]))
    const group = this.random.integer(0, 9)
    const $filter = `embedding ${question.comparator} :1 and group != ${group}`
    const parameters = `$filter=${encodeURIComponent(`"${$filter}"`)}&$params=${encodeURIComponent(paramsOf(question))}`
    await this.server.post(`/Item?$method=delete&${parameters}`)
    for (const [key, row] of this.rows) {
      if (row.group !== group && referencePasses(question, row.embedding)) this.rows.delete(key)
    }
    return this.compareAll()
  }

  private async questions(): Promise<string | undefined> {
    for (let i = 0; i < 4; i++) {
      const difference = await this.question()
      if (difference) return difference
    }
    return undefined
  }

  /** Asks a random question, as planned and exactly. */
  private async question(): Promise<string | undefined> {
    const question = this.randomQuestion()
    const { filter, more = [], matches } = this.filter(question)
    const all = inOrder(
      question,
      [...this.rows].filter(([key, row]) => matches(key, row)),
    )
    const $top = question.threshold === null ? 20 : 2_000
    const parameters = {
      $filter: filter,
      $params: JSON.parse(paramsOf(question, ...more)),
      $orderby: `embedding ${question.metric === 'euclidean' ? 'asc' : 'desc'}${this.random.pick(['', ', ID'])}`,
      $top,
    }
    const expected = all.slice(0, $top)
    const what = `${question.metric} ${filter} ${question.threshold}`
    for (const $exact of [false, true]) {
      const { keys, count, usesIndex } = await this.server.ask({ ...parameters, $exact })
      const isExact = !usesIndex || $exact
      if ($exact && usesIndex) return `${what} uses an index although an exact answer is required`
      if (isExact && (keys.join() !== expected.join() || count !== all.length)) {
        return `${what} finds ${count}: ${keys.slice(0, 30)}, not ${all.length}: ${expected.slice(0, 30)}`
      }
      if (isExact) continue
      const right = new Set(all)
      const wrong = keys.filter(key => !right.has(key))
      if (wrong.length > 0) return `${what} finds ${wrong}, which it must not`
      const place = new Map(all.map((key, i) => [key, i]))
      if (keys.some((key, i) => i > 0 && place.get(key)! < place.get(keys[i - 1]!)!)) return `${what} is out of order`
      const found = new Set(keys)
      this.expected += expected.length
      this.found += expected.filter(key => found.has(key)).length
    }
    return undefined
  }

  /** An entity set of the current result, in its order. Later writes do not change it. */
  private async entitySet(): Promise<string | undefined> {
    const question = this.compare(this.random.pick([3, 50, 700]))
    const all = inOrder(
      question,
      [...this.rows].filter(([, { embedding }]) => referencePasses(question, embedding)),
    )
    const { __ENTITYSET } = await this.server.post<{ __ENTITYSET: string }>('/Item/ID/$query', {
      $filter: `embedding ${question.comparator} :1`,
      $params: JSON.parse(paramsOf(question)),
      $orderby: `embedding ${question.metric === 'euclidean' ? 'asc' : 'desc'}, ID`,
      $exact: true,
      $method: 'entityset',
    })
    await this.insert(1)
    const { bytes } = await this.server.send('GET', `${__ENTITYSET.replace('/rest', '')}?$top=5000`)
    const keys = (JSON.parse(bytes.toString()).__ENTITIES as { ID: number }[]).map(({ ID }) => ID)
    return keys.join() === all.join()
      ? undefined
      : `a set of ${all.length} has ${keys.length} members, or another order`
  }

  /** Waits until an index is used again. */
  async settle(): Promise<string | undefined> {
    return (await this.server.indexReady(this.metric)) ? this.questions() : 'the index is never used'
  }

  private async restart(): Promise<string | undefined> {
    await this.server.stop()
    await this.server.start()
    return (await this.compareAll()) ?? this.questions()
  }

  /** Kills the server in the middle of writes, each to different rows. */
  private async kill(): Promise<string | undefined> {
    const { random, server, rows } = this
    const inFlight: InFlight = new Map()
    const keys = this.some(400)
    const writes: Promise<void>[] = []
    while (keys.length > 0) {
      const some = keys.splice(0, random.pick([1, 20, 100]))
      const isDeletion = random.chance(0.3)
      const changes = some.map(ID => ({ ID, ...this.values() }))
      for (const { ID, ...after } of changes) inFlight.set(ID, { after: isDeletion ? null : after, isAnswered: false })
      const sent = isDeletion
        ? server.send('POST', `/Item(${some.join(',')})?$method=delete`)
        : server.send('POST', '/Item?$method=update', this.bodyOf(changes))
      const answered = ({ status }: { status: number }): void => {
        if (status === 200) for (const key of some) inFlight.get(key)!.isAnswered = true
      }
      writes.push(sent.then(answered, () => {}))
    }
    await delay(random.integer(0, 60))
    await server.kill()
    await Promise.all(writes)
    await server.start()
    const stored = await server.rows()
    for (const [key, { after, isAnswered }] of inFlight) {
      const now = stored.get(key)
      const hasHappened = after === null ? !now : now !== undefined && isSame(now, after)
      if (!hasHappened && isAnswered) return `${key} was acknowledged and is ${JSON.stringify(now)}`
      if (!hasHappened) continue
      if (now) rows.set(key, now)
      else rows.delete(key)
    }
    return this.compareAll(stored)
  }

  /** Damages the files of the indexes; asks while the index is made again, and afterwards. */
  private async damage(): Promise<string | undefined> {
    await this.server.kill()
    damageIndex(join(this.server.folder, 'store'), this.random)
    await this.server.start()
    return (await this.question()) ?? this.settle()
  }

  async compareAll(stored?: Map<number, Item>): Promise<string | undefined> {
    const found = stored ?? (await this.server.rows())
    for (const [key, row] of this.rows) {
      const now = found.get(key)
      if (!now || !isSame(now, row) || now.stamp !== row.stamp) return `${key} is ${JSON.stringify(now)}`
    }
    return found.size === this.rows.size ? undefined : `there are ${found.size} rows and not ${this.rows.size}`
  }

  get recall(): number {
    return this.found / this.expected
  }

  private async save(changes: readonly (Omit<Item, 'stamp'> & { ID: number })[]): Promise<void> {
    const { __ENTITIES } = await this.server.post<{ __ENTITIES: { __STAMP: number }[] }>(
      '/Item?$method=update',
      this.bodyOf(changes),
    )
    for (const [i, { ID, ...values }] of changes.entries()) {
      this.rows.set(ID, { ...values, stamp: __ENTITIES[i]!.__STAMP })
    }
  }

  private bodyOf(changes: readonly (Omit<Item, 'stamp'> & { ID: number })[]): object {
    const __ENTITIES = changes.map(({ ID, ...values }) => {
      const old = this.rows.get(ID)
      return old ? { __KEY: String(ID), __STAMP: old.stamp, ...values } : { ID, ...values }
    })
    return { __ENTITIES }
  }

  private values(): Omit<Item, 'stamp'> {
    return { group: this.random.integer(0, 9), embedding: this.source.value() }
  }

  private onlyGroup(ID: number): Omit<Item, 'stamp'> {
    return { group: this.random.integer(0, 9), embedding: this.rows.get(ID)!.embedding }
  }

  private some(count: number): number[] {
    return this.random.some([...this.rows.keys()], Math.max(0.01, count / this.rows.size)).slice(0, count)
  }

  private randomQuestion(): VectorQuestion {
    const { random } = this
    if (random.chance(0.4)) return { ...this.compare(0), threshold: null }
    const question = this.compare(random.pick([0, 3, 20, 100, 700]))
    return random.chance(0.8) ? question : { ...question, comparator: random.pick(['<', '<=', '>', '>='] as const) }
  }

  /** A question that about `count` nearest rows satisfy. */
  private compare(count: number): VectorQuestion {
    const { random } = this
    const metric = random.chance(0.8) ? this.metric : random.pick(['cosine', 'dot', 'euclidean'] as const)
    // Zero, and lengths that are too large or too small for an index.
    const scale = random.chance(0.9) ? 1 : random.pick([0, 2 ** 70, 2 ** -70])
    const vector = this.source.vector().map(number => Math.fround(number) * scale)
    const question = { vector, metric, comparator: metric === 'euclidean' ? '<=' : '>', threshold: null } as const
    return { ...question, threshold: this.thresholdFor(count, question) }
  }

  /** Threshold that about `count` rows satisfy. */
  private thresholdFor(count: number, question: VectorQuestion): number {
    const scores = [...this.rows.values()].flatMap(({ embedding }) => referenceScore(question, embedding) ?? [])
    scores.sort((a, b) => (question.metric === 'euclidean' ? a - b : b - a))
    return ((scores[count] ?? 0) + (scores[count + 1] ?? 0)) / 2
  }

  /** The condition alone, or combined with others. */
  private filter(question: VectorQuestion): Condition {
    const condition = `embedding ${question.comparator} :1`
    const passes = ({ embedding }: Item): boolean => referencePasses(question, embedding)
    const group = this.random.integer(1, 9)
    const [key] = this.some(1)
    const comparator = this.random.pick(['<', '<=', '>', '>='] as const)
    const end = { ...question, comparator, threshold: this.thresholdFor(this.random.pick([5, 200]), question) }
    return this.random.pick([
      {
        filter: `${condition} and embedding ${comparator} :2`,
        more: [end],
        matches: (_: number, row: Item) => passes(row) && referencePasses(end, row.embedding),
      },
      { filter: condition, matches: (_: number, row: Item) => passes(row) },
      { filter: `${condition} and group < ${group}`, matches: (_, row) => passes(row) && row.group < group },
      { filter: `group = ${group} and ${condition}`, matches: (_, row) => passes(row) && row.group === group },
      { filter: `${condition} or ID = ${key}`, matches: (ID, row) => passes(row) || ID === key },
      { filter: `${condition} except group = ${group}`, matches: (_, row) => passes(row) && row.group !== group },
      {
        filter: `group != ${group} except (${condition})`,
        matches: (_, row) => row.group !== group && !passes(row),
      },
      {
        filter: `(${condition} or group = ${group}) and ID > ${key}`,
        matches: (ID, row) => (passes(row) || row.group === group) && ID > key!,
      },
    ])
  }
}

const paramsOf = (...questions: readonly VectorQuestion[]): string =>
  JSON.stringify(questions.map(({ vector, metric, threshold }) => ({ vector, metric, threshold })))

function isSame(a: Omit<Item, 'stamp'>, b: Omit<Item, 'stamp'>): boolean {
  const numbers = ({ embedding }: Omit<Item, 'stamp'>) => embedding && Float32Array.from(embedding).join()
  return a.group === b.group && numbers(a) === numbers(b)
}

/** Files from an earlier time and from a similar store, kept once there are any. */
const others = new Map<string, Buffer>()

function damageIndex(store: string, random: Random): void {
  const files = readdirSync(store).filter(name => name.startsWith('vectors-'))
  const path = (ending: string) => join(store, files.find(name => name.endsWith(ending)) ?? `vectors-none.${ending}`)
  const [description, graph] = [path('json'), path('hnsw')]
  if (!existsSync(description) || !existsSync(graph)) return
  const flip = (file: string) => {
    const bytes = readFileSync(file)
    bytes[random.integer(0, bytes.length - 1)]! ^= 1 << random.integer(0, 7)
    writeFileSync(file, bytes)
  }
  const earlier = { description: others.get(description), graph: others.get(graph) }
  others.set(description, readFileSync(description)).set(graph, readFileSync(graph))
  random.pick([
    () => rmSync(description),
    () => rmSync(graph),
    () => truncateSync(description, random.integer(0, 300)),
    () => truncateSync(graph, random.integer(0, 10_000)),
    () => flip(description),
    () => flip(graph),
    () => copyFileSync(description, graph),
    () => writeFileSync(description, '{"format":2,"graph":null}'),
    () => earlier.description && writeFileSync(description, earlier.description),
    () => earlier.graph && writeFileSync(graph, earlier.graph),
  ])()
}
