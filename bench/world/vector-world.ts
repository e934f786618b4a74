import { TEXT_LIMITS } from '../../engine/query/parse/limits.ts'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Engine, openEngine } from '../../engine/index.ts'
import { FORMAT_VERSION } from '../../engine/storage/format-version.ts'
import { insert } from './tesser-store.ts'

/** Vectors of length 1, computed from a seed: around some centres, or evenly in all directions. */
export interface VectorWorldPlan {
  readonly rows: number
  readonly dimension: number
  /** Number of centres; 0 for none. */
  readonly clusters: number
}

/** Number of groups of rows, for predicates combined with vectors: row `n` is in group `n % GROUPS`. */
export const GROUPS = 1000
/** Distance of the vectors of a cluster from its centre, in each direction. */
const SPREAD = 0.5

export class VectorWorld {
  private readonly centres: Float64Array[]

  constructor(readonly plan: VectorWorldPlan) {
    this.centres = Array.from({ length: plan.clusters }, (_, i) => gaussian(i + 1, plan.dimension))
  }

  /** @param n below the number of rows of the plan for rows; from there on for questions */
  vector(n: number): Float32Array {
    const { dimension, clusters } = this.plan
    const vector = gaussian(1e6 + n, dimension)
    if (clusters > 0) {
      const centre = this.centres[hash(n) % clusters]!
      for (let i = 0; i < dimension; i++) vector[i] = centre[i]! + SPREAD * vector[i]!
    }
    const length = Math.hypot(...vector)
    return Float32Array.from(vector, number => number / length)
  }

  question(n: number): Float32Array {
    return this.vector(this.plan.rows + n)
  }

  entity(row: number): object {
    return { ID: row, group: row % GROUPS, embedding: [...this.vector(row)] }
  }
}

const hash = (n: number): number => {
  let h = Math.imul(n ^ (n >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Normally distributed numbers. Source: Box, Muller (1958). */
function gaussian(seed: number, count: number): Float64Array {
  let state = hash(seed)
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32
  }
  return Float64Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  )
}

const modelOf = ({ dimension }: VectorWorldPlan) => ({
  name: 'vectors',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        group: { type: 'long' },
        embedding: { type: 'vector', dimension, hnsw: {} },
      },
    },
  },
})

/** Maximum time to build an index. */
const INDEX_MS_PER_ROW = 12

/**
 * Opens the engine on the store of a world of vectors, created if missing, with everything in memory. The index is built and measured,
 * which takes a minute or two for 100 k.
 */
export async function openVectorWorld(world: VectorWorld): Promise<Engine> {
  return openIndexed(world.plan, await folderOf(world))
}

/** The store of a world of vectors, created if missing, for a server. */
export async function storeOf(world: VectorWorld): Promise<{ model: object; path: string }> {
  return { model: modelOf(world.plan), path: join(await folderOf(world), 'store') }
}

/** The engine on a copy that may be changed. */
export async function copyVectorWorld(world: VectorWorld): Promise<{ engine: Engine; remove(): void }> {
  const folder = await folderOf(world)
  const copy = `${folder}.copy`
  const remove = (): void => rmSync(copy, { recursive: true, force: true })
  remove()
  cpSync(folder, copy, { recursive: true, filter: source => !source.endsWith('lock.mdb') })
  return { engine: await openIndexed(world.plan, copy), remove }
}

async function folderOf(world: VectorWorld): Promise<string> {
  const { rows, dimension, clusters } = world.plan
  const folder = resolve('.tesser/bench', `vectors-${rows}-${dimension}-${clusters}-${FORMAT_VERSION}`)
  if (existsSync(folder)) return folder
  const unfinishedFolder = `${folder}.unfinished`
  rmSync(unfinishedFolder, { recursive: true, force: true })
  mkdirSync(unfinishedFolder, { recursive: true })
  const engine = await open(world.plan, unfinishedFolder)
  try {
    await insert(
      engine,
      'Item',
      rows,
      row => world.entity(row),
      () => {},
    )
  } finally {
    await engine.close()
  }
  renameSync(unfinishedFolder, folder)
  return folder
}

async function openIndexed(plan: VectorWorldPlan, folder: string): Promise<Engine> {
  // The first note about an index says that it is ready or unusable.
  let onIndex = (): void => {}
  const indexReady = new Promise<void>(resolve => {
    onIndex = resolve
  })
  const engine = await open(plan, folder, text => {
    if (text.startsWith('the index of')) onIndex()
  })
  await engine.parts.writer.memoryFilled
  engine.warmUp()
  await Promise.race([indexReady, setTimeout(plan.rows * INDEX_MS_PER_ROW, undefined, { ref: false })])
  // Time for the status to become visible, and for the file to be written.
  await setTimeout(3_000)
  return engine
}

const open = (plan: VectorWorldPlan, folder: string, onNote: (text: string) => void = () => {}): Promise<Engine> =>
  openEngine({
    path: join(folder, 'store'),
    model: modelOf(plan),
    wire: { dateOnlyFormat: 'iso' },
    allowLoss: false,
    mapSizeBytes: 2 ** 36,
    cacheBytes: 2 ** 28,
    memoryBytes: 2 ** 32,
    limits: {
      ...TEXT_LIMITS,
      timeoutMs: 60_000,
      exportTimeoutMs: 60_000,
      maxRowsExamined: 1e9,
      maxExpandDepth: 8,
      maxAnswerBytes: 2 ** 28,
    },
    writeQueueBytes: 2 ** 28,
    onNote,
  })
