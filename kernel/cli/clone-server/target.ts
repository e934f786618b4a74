import { createHash } from 'node:crypto'
import type { Config } from '../../../config/load-config.ts'
import { parseExact, stringifyExact } from '../../../engine/base/exact-json.ts'
import {
  bytesOf,
  type DataClass,
  type Engine,
  Mismatch,
  openEngine,
  parseAttributeList,
  type ReadRequest,
  type SelectionSource,
  type StorageAttribute,
  TYPES,
} from '../../../engine/index.ts'
import { engineOptions } from '../../main.ts'
import type { DraftModel } from '../draft-model.ts'
import type { ClassPlan } from './class-plan.ts'
import { StampTable } from './stamp-table.ts'

/** An entity that the store refuses. */
export interface Refusal {
  readonly key: string
  readonly reason: string
}

/** Rows in a read of the store. */
const READ_ROWS = 50_000
/** Owner of uploads, which are attached immediately. */
const OWNER = { handle: 'clone', isNew: false }
/** Maximum bytes of a value in the JSON of a row. */
const INLINE_BYTES = 64 * 1024

/** The store into which a server is copied. */
export class Target {
  private constructor(
    private readonly engine: Engine,
    private readonly wire: Config['protocol'],
  ) {}

  /** @throws {MigrationError} the model does not fit the data; errors of the store */
  static async open(
    config: Config,
    model: DraftModel,
    options: { allowLoss: boolean; onNote?: (text: string) => void },
  ): Promise<Target> {
    const { onNote = () => {} } = options
    const engine = await openEngine({
      ...engineOptions(config, [], model),
      allowLoss: options.allowLoss,
      // The store is itself the unfinished copy.
      unfinished: undefined,
      // Each commit syncs the data file: with a page in a commit, the log would only write the rows twice.
      log: undefined,
      memoryBytes: 0,
      onNote,
    })
    return new Target(engine, config.protocol)
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  /** Stamps of the source that the store has. */
  async stamps(plan: ClassPlan): Promise<StampTable> {
    const table = new StampTable(0)
    for await (const rows of this.rows(plan)) for (const row of rows) table.set(row.__KEY, Number(row[plan.stamp]))
    return table
  }

  async *rows({ name, stamp }: ClassPlan): AsyncGenerator<StoredRow[]> {
    for (let skip = 0; ; skip += READ_ROWS) {
      const rows = await this.read(name, { kind: 'all' }, [stamp], skip)
      if (rows.length > 0) yield rows
      if (rows.length < READ_ROWS) return
    }
  }

  /** Values of entities that the store has. */
  entities(dataClass: string, keys: readonly string[], attributes: readonly string[]): Promise<StoredRow[]> {
    return this.read(dataClass, { kind: 'keys', keys }, attributes, 0)
  }

  private async read(
    dataClass: string,
    source: SelectionSource,
    attributes: readonly string[],
    skip: number,
  ): Promise<StoredRow[]> {
    const items = parseAttributeList(attributes.join(','), dataClass)
    const output: ReadRequest['output'] = { form: 'array', attributes: { from: 'path', items } }
    const answer = await this.engine.queries.read({ dataClass, source, skip, top: READ_ROWS, output })
    return (parseExact(Buffer.from(await bytesOf(answer)).toString(), 'numbers') as StoredRow[]).map(row => ({
      ...row,
      __KEY: String(row.__KEY),
    }))
  }

  /** SHA-256 of an image or a blob; undefined if there is none. */
  async digest(dataClass: string, key: string, attribute: string): Promise<string | undefined> {
    const { binaries } = this.engine
    const items = parseAttributeList(attribute, dataClass)
    const output: ReadRequest['output'] = { form: 'entity', attributes: { from: 'path', items } }
    const request: ReadRequest = { dataClass, source: { kind: 'keys', keys: [key] }, skip: 0, top: undefined, output }
    const storedBinary = await binaries.find(request, binaries.addressed(request)!)
    const bytes = storedBinary && (await binaries.open(storedBinary))
    if (!bytes) return undefined
    const hash = createHash('sha256')
    try {
      for (let at = 0; at < bytes.size; ) {
        const piece = await bytes.read(at)
        hash.update(piece)
        at += piece.length
      }
    } finally {
      bytes.close()
    }
    return hash.digest('hex')
  }

  /** Spelling of a key in the store. */
  keyText(dataClass: string, key: string): string {
    const attribute = this.dataClass(dataClass).key
    const type = TYPES[attribute.type]
    const value = type.convert(key, attribute, true)
    return value instanceof Mismatch || !('keyText' in type) ? key : type.keyText(value, attribute, this.wire)
  }

  /** JSON of a value as the store would write it, so that values can be compared; undefined if the attribute cannot hold the value. */
  textOf(dataClass: string, name: string, json: unknown): string | undefined {
    if (json === null || json === undefined) return 'null'
    const attribute = this.dataClass(dataClass).attributesByName.get(name) as StorageAttribute
    const type = TYPES[attribute.type]
    const value = type.convert(json, attribute, true)
    return value instanceof Mismatch ? undefined : type.encode(value, attribute, this.wire)
  }

  private dataClass(name: string): DataClass {
    return this.engine.catalog.dataClassesByName.get(name)!
  }

  /**
   * Saves entities, in one commit. Entities with `__KEY` already exist.
   * @returns the entities that are refused
   */
  async save({ name, key }: ClassPlan, entities: readonly Readonly<Record<string, unknown>>[]): Promise<Refusal[]> {
    const { engine } = this
    const body = Buffer.from(stringifyExact(entities))
    const request = { kind: 'save', dataClass: name, body, mode: 'update', atomic: false } as const
    const uploads = engine.uploads.access(OWNER)
    const result = await engine.saves.write({ ...request, trusted: true, anyStamp: true, uploads })
    return result.entities.flatMap(({ failure }, index) =>
      failure ? [{ key: String(entities[index]![key]), reason: failure.error.entries[0]!.message }] : [],
    )
  }

  async remove(dataClass: string, keys: readonly string[]): Promise<void> {
    const request = { dataClass, source: { kind: 'keys', keys }, skip: 0, top: undefined } as const
    await this.engine.saves.delete({ ...request, output: { form: 'array' } }, { atomic: false })
  }

  /**
   * Takes the bytes of an image or a blob.
   * @returns the value of the attribute in a save; null for an image without bytes, which the source could not show
   */
  async receive(body: AsyncIterable<Uint8Array>, mediaType: string, isImage: boolean): Promise<unknown> {
    const { uploads } = this.engine
    const value = await uploads.receive(async take => {
      for await (const piece of body) await take(piece)
    }, OWNER)
    if (value.size === 0 && isImage) return null
    if (!(value.content instanceof Uint8Array) || value.size > INLINE_BYTES)
      return { ID: await uploads.add(value, OWNER) }
    const isKnown = !isImage || value.mediaType.startsWith('image/') || !mediaType.startsWith('image/')
    return `data:${isKnown ? value.mediaType : mediaType.split(';')[0]};base64,${Buffer.from(value.content).toString('base64')}`
  }
}

interface StoredRow {
  readonly __KEY: string
  readonly [attribute: string]: unknown
}
