import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../support/base/random.ts'
import { type Metric, vectorModel } from '../support/engine/vector-items.ts'
import { LiveServer } from '../support/servers/live-server.ts'

export const DIMENSION = 48
/** Number of rows from which there is an index. */
const MIN_ROWS = 400
const CLUSTERS = 12

export interface Item {
  group: number
  embedding: number[] | null
  stamp: number
}

export const modelOf = (metric: Metric) => vectorModel({ dimension: DIMENSION, metric, hnsw: { m: 12, ef: 150 } })

/** Writes the files that {@link vectorServer} starts from. @param storage options @param recall 2: no index is used */
export function writeFiles(folder: string, metric: Metric, storage: object = {}, recall = 0.5): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'model.json'), JSON.stringify(modelOf(metric)))
  const config = {
    model: 'model.json',
    data: 'store',
    server: { port: 0, transport: 'node-http' },
    storage: { mapSizeBytes: '256 MiB', ...storage },
    vector: { indexMinRows: MIN_ROWS, recall },
  }
  writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify(config))
}

/** A server with vectors in a separate process. */
export class VectorServer extends LiveServer {
  constructor(
    readonly folder: string,
    execArgv: readonly string[] = [],
  ) {
    super('vectors.child.js', () => [folder], execArgv)
  }

  async post<T>(path: string, body?: object): Promise<T> {
    const { status, bytes } = await this.send('POST', path, body)
    if (status !== 200) throw new Error(`${path} is answered with ${status}: ${bytes.toString().slice(0, 1_000)}`)
    return JSON.parse(bytes.toString())
  }

  /** Keys of a page, the number of all matches, and how they were found. */
  async ask(parameters: object): Promise<{ keys: number[]; count: number; usesIndex: boolean }> {
    const { __ENTITIES, __COUNT, __queryPlan } = await this.post<Page>('/Item/ID/$query', {
      $queryplan: true,
      ...parameters,
    })
    const usesIndex = JSON.stringify(__queryPlan ?? '').includes('[index : Item.embedding')
    return { keys: __ENTITIES.map(({ ID }) => ID), count: __COUNT, usesIndex }
  }

  /** All rows, as sent. */
  async rows(): Promise<Map<number, Item>> {
    const { __ENTITIES } = await this.post<Page>('/Item/$query', { $top: 1_000_000 })
    return new Map(__ENTITIES.map(({ ID, group, embedding, __STAMP }) => [ID, { group, embedding, stamp: __STAMP }]))
  }

  /** @returns true if the index is used before the time is over */
  async indexReady(metric: Metric): Promise<boolean> {
    const nearest = { vector: new Array(DIMENSION).fill(1), metric, threshold: null }
    for (const start = Date.now(); Date.now() - start < 60_000; ) {
      if ((await this.ask({ $filter: 'embedding > :1', $params: [nearest], $top: 1 })).usesIndex) return true
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    return false
  }
}

interface Page {
  __COUNT: number
  __queryPlan?: object
  __ENTITIES: { ID: number; group: number; embedding: number[] | null; __STAMP: number }[]
}

/** Vectors clustered around some centres, like those of texts, with a few outliers. */
export class VectorSource {
  private readonly centres: number[][]

  constructor(private readonly random: Random) {
    const numbers = () => Array.from({ length: DIMENSION }, () => random.integer(-1000, 1000) / 1000)
    this.centres = Array.from({ length: CLUSTERS }, numbers)
  }

  vector(): number[] {
    return this.random.pick(this.centres).map(number => number + this.random.integer(-300, 300) / 1000)
  }

  value(): number[] | null {
    const { random } = this
    if (random.chance(0.03)) return null
    if (random.chance(0.02)) return new Array<number>(DIMENSION).fill(0)
    // Near the limit of Float32, where products overflow it.
    return random.chance(0.01) ? this.vector().map(number => number * 1e37) : this.vector()
  }
}
