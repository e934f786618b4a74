import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import { type GraphState, HnswGraph, type Hnswlib } from './hnsw-graph.ts'

/** Version of the files' layout; incremented with every change of it. */
const FORMAT = 2

/** State of a graph that is stored beside its file. */
interface StoredGraph {
  /** Global stamp of the commit up to which changes are in the graph, or pending in {@link GraphState}. */
  readonly stamp: number
  /** Number of candidates that is enough for a search, and the time of a search, in microseconds. */
  readonly candidates: number
  readonly microseconds: number
}

interface Description extends StoredGraph {
  readonly format: number
  readonly id: string
  readonly fingerprint: string
  readonly graph: GraphState
}

type Stored = Description & { readonly checksum: string }

/**
 * The graph of an attribute in the folder of the store, which saves building it at each start: a file of hnswlib, and a description that
 * names it, written after it. A missing, damaged or mismatched file costs work, but never causes a wrong answer.
 */
export class IndexFile {
  private readonly name: string

  constructor(
    private readonly folder: string,
    private readonly attribute: StorageAttribute,
  ) {
    this.name = `vectors-${attribute.dataClass.tableNumber}-${attribute.position}`
  }

  /** @returns undefined without a file @throws {Error} saying why the file cannot be used */
  async load(library: Hnswlib): Promise<{ graph: HnswGraph; storedGraph: StoredGraph } | undefined> {
    if (!existsSync(this.path('json'))) return undefined
    const { checksum, ...description } = JSON.parse(readFileSync(this.path('json'), 'utf8')) as Stored
    if (description.format !== FORMAT || description.fingerprint !== this.fingerprint) {
      throw new Error('it was made for another model')
    }
    const path = this.path('hnsw', description.id)
    if ((await checksumOf(path, description)) !== checksum) throw new Error('its file is damaged')
    return { graph: HnswGraph.load(library, this.attribute.vector!, path, description.graph), storedGraph: description }
  }

  /** Writes the graph and its description. The graph must not change meanwhile. */
  async save(graph: HnswGraph, storedGraph: StoredGraph): Promise<void> {
    const id = randomUUID()
    const path = this.path('hnsw', id)
    // hnswlib writes into the existing file; if it created the file, other users could read it.
    writeFileSync(path, '', { mode: 0o600, flag: 'wx' })
    const state = await graph.save(path)
    const { fingerprint } = this
    const description: Description = { format: FORMAT, id, fingerprint, ...storedGraph, graph: state }
    const checksum = await checksumOf(path, description)
    writeFileSync(this.path('json', id), JSON.stringify({ ...description, checksum } satisfies Stored), { mode: 0o600 })
    renameSync(this.path('json', id), this.path('json'))
    for (const file of readdirSync(this.folder)) {
      if (file.startsWith(`${this.name}-`) && !file.includes(id)) rmSync(join(this.folder, file), { force: true })
    }
  }

  /** Removes a useless description: a later start could mistake it for the state of another store with the same stamp. */
  remove(): void {
    rmSync(this.path('json'), { force: true })
  }

  private path(ending: string, id?: string): string {
    return join(this.folder, `${this.name}${id === undefined ? '' : `-${id}`}.${ending}`)
  }

  private get fingerprint(): string {
    const { dimension, metric, hnsw } = this.attribute.vector!
    return JSON.stringify([dimension, metric, hnsw!.m, hnsw!.efConstruction])
  }
}

/** Checksum that detects damage by a crash, in the file of hnswlib and in its description. */
async function checksumOf(path: string, description: Description): Promise<string> {
  const hash = createHash('sha1').update(JSON.stringify(description))
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
