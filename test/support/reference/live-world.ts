/**
 * A world and an engine that holds the same rows.
 */
import { type Engine, type EngineOptions, openEngine } from '../../../engine/index.ts'
import type { ReadRequest } from '../../../engine/query/contract/request.ts'
import { addRow, deleteRows } from './changes.ts'
import { engineOptions } from '../engine/engine-options.ts'
import { decode, readJson, readRequest } from '../engine/read-request.ts'
import { optionsOf, wantedSetting } from '../runner/setting.ts'
import type { Random } from '../base/random.ts'
import { bodyOf, type Pools, randomModel, randomPools, randomRow, randomValue } from './random-world.ts'
import {
  type ClassSpec,
  keyText,
  modelOf,
  type OneSpec,
  type Plain,
  type Row,
  rowsOf,
  storageOf,
  type World,
} from './world.ts'

/** An engine with the rows of a world. */
export interface ComparedWorld {
  readonly world: World
  readonly specs: ClassSpec[]
  readonly engine: Engine
}

export class LiveWorld implements ComparedWorld {
  private constructor(
    readonly folder: string,
    readonly world: World,
    readonly pools: Pools,
    private readonly options: WorldOptions,
    /** Replaced by {@link reopen}. */
    public engine: Engine,
  ) {}

  /** A random model, opened in an empty folder, with random rows. */
  static async open(folder: string, random: Random, maxRows = 60): Promise<LiveWorld> {
    const world = randomModel(random)
    const wanted = wantedSetting()
    const options: WorldOptions = {
      cacheBytes: random.pick([1, 100_000, 64 << 20]),
      // Nothing in shared memory, a part of it, or everything.
      memoryBytes: random.pick([0, 300_000, 64 << 20, 64 << 20]),
      // No images of the memory, one at the end, or one after another.
      imageMinutes: random.pick([0, 60, 1e-4]),
      imageChanges: 1,
      // All queries in the pool, some of them, or none.
      pool: { threads: 1, inlineCostMs: random.pick([0, 0.2, 1_000, 1_000, 1_000]) },
      ...(wanted && { ...NORMAL, ...optionsOf(wanted) }),
    }
    // Two of three worlds have a log.
    if (options.cacheBytes !== 1) options.log = {}
    const engine = await openWorld(folder, world, options)
    const live = new LiveWorld(folder, world, randomPools(random, world, maxRows), options, engine)
    for (const { spec } of world.classes.values()) await live.load(random, spec, random.integer(0, maxRows))
    // So far, a reference could only lead to rows that existed before.
    await live.change(random, maxRows)
    return live
  }

  get specs(): ClassSpec[] {
    return [...this.world.classes.values()].map(({ spec }) => spec)
  }

  /** Closes the engine and opens it again over the same files; rows that fit are in memory, from an image or not. */
  async reopen(): Promise<void> {
    await this.engine.close()
    this.engine = await openWorld(this.folder, this.world, this.options)
    await this.engine.parts.writer.memoryFilled
  }

  /** Random updates, insertions and deletions, one request each. */
  async change(random: Random, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const spec = random.pick(this.specs)
      const rows = rowsOf(this.world, spec.name)
      if (rows.length === 0 || random.chance(0.1)) await this.load(random, spec, 1)
      else if (random.chance(0.15)) await this.delete(spec, random.pick(rows))
      else await this.update(random, spec, random.pick(rows))
    }
  }

  private async load(random: Random, spec: ClassSpec, count: number): Promise<void> {
    if (count === 0) return
    const added = Array.from({ length: count }, () =>
      addRow(this.world, spec.name, randomRow(random, this.world, spec, this.pools)),
    )
    await this.save(
      spec,
      added.map(row => bodyOf(spec, row.values)),
    )
  }

  private async update(random: Random, spec: ClassSpec, row: Row): Promise<void> {
    const names = spec.attributes
      .filter(each => each.kind === 'storage' && each.name !== spec.key)
      .map(({ name }) => name)
    const references = spec.attributes
      .filter((each): each is OneSpec => each.kind === 'relatedEntity')
      .map(each => each.foreignKey)
    const changed = [...new Set([...random.some(names, 0.15), ...random.some(references, 0.5)])]
    if (changed.length === 0) return
    const values = changed.map((name): [string, Plain] => [
      name,
      randomValue(random, this.world, spec, storageOf(spec, name), this.pools),
    ])
    const [stamp] = await this.save(spec, [{ __KEY: keyText(spec, row), __STAMP: row.stamp, ...bodyOf(spec, values) }])
    row.stamp = stamp!
    for (const [name, value] of values) row.values.set(name, value)
  }

  private async delete(spec: ClassSpec, row: Row): Promise<void> {
    const key = keyText(spec, row)
    const changed = deleteRows(this.world, spec.name, [row])
    const source = { kind: 'keys', keys: [key] } as const
    const deleted = await this.engine.saves.delete(request(spec, { source }), { atomic: true }).then(
      count => count === 1,
      () => false,
    )
    if (deleted !== (changed !== undefined)) throw new Error(`deletion of ${spec.name}(${key}): ${deleted}`)
    if (changed) await this.adoptStamps(changed)
  }

  /** Takes over stamps: an entity that loses several references in one deletion may have been saved for each of them. */
  async adoptStamps(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      const spec = this.specs.find(({ name }) => rowsOf(this.world, name).includes(row))!
      const source = { kind: 'keys', keys: [keyText(spec, row)] } as const
      const { __STAMP } = await readJson(this.engine, request(spec, { source, output: { form: 'entity' } }))
      row.stamp = Math.max(row.stamp, __STAMP)
    }
  }

  private save(spec: ClassSpec, bodies: object[]): Promise<number[]> {
    return saveBodies(this.engine, spec, bodies)
  }
}

/** @returns the stamps */
async function saveBodies(engine: Engine, spec: ClassSpec, bodies: object[]): Promise<number[]> {
  const { body } = await engine.saves.save(
    {
      kind: 'save',
      dataClass: spec.name,
      body: Buffer.from(JSON.stringify(bodies)),
      mode: 'update',
      atomic: false,
      trusted: true,
    },
    { form: 'collection' },
  )
  const { __ENTITIES } = decode(body) as { __ENTITIES: { __STAMP: number; __ERROR?: unknown }[] }
  const failed = __ENTITIES.findIndex(({ __ERROR }) => __ERROR)
  if (failed >= 0)
    throw new Error(`${JSON.stringify(bodies[failed])} was refused: ${JSON.stringify(__ENTITIES[failed])}`)
  return __ENTITIES.map(({ __STAMP }) => __STAMP)
}

const NORMAL = { cacheBytes: 64 << 20, memoryBytes: 64 << 20, pool: { threads: 1, inlineCostMs: 0.2 } }

type WorldOptions = Pick<EngineOptions, 'cacheBytes' | 'memoryBytes' | 'imageMinutes' | 'imageChanges' | 'pool' | 'log'>

const openWorld = (path: string, world: World, options: WorldOptions): Promise<Engine> =>
  openEngine(engineOptions({ path, model: modelOf(world), ...options }))

/** Saves rows of the store. */
export async function saveRows(engine: Engine, spec: ClassSpec, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const stamps = await saveBodies(
    engine,
    spec,
    rows.map(row => bodyOf(spec, row.values)),
  )
  for (const [i, row] of rows.entries()) row.stamp = stamps[i]!
}

/** A read of all keys of a dataclass, unless `part` says otherwise. */
export const request = (spec: ClassSpec, part: Partial<ReadRequest> = {}): ReadRequest =>
  readRequest(spec.name, spec.key, part)
