import { isBinary, type StorageAttribute } from '../catalog/attribute.ts'
import type { BinaryValue } from '../catalog/value.ts'
import { ProtocolError } from '../errors.ts'
import type { View } from '../catalog/view.ts'
import type { Access } from '../permission/views.ts'
import type { Caller } from '../pool/query-pool.ts'
import type { TaskRunner } from '../pool/task-runner.ts'
import type { Promised } from '../promised.ts'
import type { ReadRequest } from '../query/request.ts'
import { SerialiseErrors } from '../query/serialise/serialise-errors.ts'
import { encodeBinary } from '../storage/encode-binary.ts'
import type { ReadStore } from '../memory/open-read-store.ts'
import type { SaveRequest, SaveResult } from '../write/requests.ts'
import { BinaryReader, type ByteSource } from './binary-reader.ts'
import { newUploadId, type Uploads } from './uploads.ts'

export type BinaryAttribute = StorageAttribute & { type: 'image' | 'blob' }

/** An image or a blob of an entity, as it is in one version of the entity. */
export interface StoredBinary {
  readonly value: BinaryValue
  /** `__STAMP` of the entity. */
  readonly stamp: number
  /** Of its last change: no other version of any entity has it. */
  readonly globalStamp: number
}

export interface BinariesOptions {
  readonly data: ReadStore
  readonly tasks: TaskRunner
  readonly uploads: Uploads
  view(access: Access | undefined): View
  write(request: SaveRequest, caller?: Caller): Promise<SaveResult>
  /** Memory for pieces that were read last. */
  readonly cacheBytes: number
}

/** Images and blobs of entities, addressed by the request for one attribute of one entity. */
export class Binaries {
  private readonly reader: BinaryReader

  constructor(private readonly options: BinariesOptions) {
    this.reader = new BinaryReader(options.data.environment.files, options.cacheBytes)
  }

  /**
   * The image or blob that the attribute list of `request` is about, when it is about nothing else of one entity.
   */
  addressed({ dataClass, access, output }: ReadRequest): BinaryAttribute | undefined {
    const items = output.attributes?.items
    if (output.form !== 'entity' || items?.length !== 1 || items[0]!.path.length !== 1) return undefined
    const view = this.options.view(access)
    const attribute = view.attribute(view.dataClass(dataClass), items[0]!.path[0]!)
    return attribute?.kind === 'storage' && isBinary(attribute.type) ? (attribute as BinaryAttribute) : undefined
  }

  /**
   * That of the one entity that `request` selects: null when it has none.
   * @throws {ProtocolError}
   */
  find(request: ReadRequest, attribute: BinaryAttribute, caller?: Caller): Promised<StoredBinary | null> {
    const { data, tasks } = this.options
    const binaryOf = (rowId: number): StoredBinary | null =>
      data.read(snapshot => {
        const table = snapshot.table(attribute.dataClass)
        const value = table.binary(rowId, attribute)
        const row = value && table.row(rowId)
        return row ? { value, stamp: row.stamp, globalStamp: row.globalStamp } : null
      })
    const rowId = tasks.rowId(request, caller)
    return rowId instanceof Promise ? rowId.then(binaryOf) : binaryOf(rowId)
  }

  /**
   * The bytes of `value` from `start` to before `end`; to be closed.
   * @returns undefined when the entity has been changed or deleted meanwhile, and its bytes with it
   */
  open(value: BinaryValue, start = 0, end = value.size): ByteSource | undefined {
    try {
      return this.reader.open(value, start, end)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /**
   * Sets that of the one entity that `request` selects, in the version that there is, and resolves when it is durable.
   * What was received for it is discarded when that fails.
   * @param owner handle of the session, for entities that are locked
   * @throws {ProtocolError} also when it has been deleted meanwhile
   */
  async save(
    request: ReadRequest,
    attribute: BinaryAttribute,
    value: BinaryValue | null,
    owner: string,
    caller?: Caller,
  ): Promise<void> {
    const { data, tasks, uploads } = this.options
    const id = newUploadId()
    try {
      const rowId = await tasks.rowId(request, caller)
      const key = data.read(snapshot => snapshot.table(attribute.dataClass).row(rowId)?.key)
      // It has been deleted since it was found. Without a key the writer would make a new entity.
      if (key === undefined) throw SerialiseErrors.NO_ENTITY(request.dataClass)
      const entity = { __KEY: key, [attribute.name]: value && { ID: id } }
      const save: SaveRequest = {
        kind: 'save',
        dataClass: request.dataClass,
        body: new TextEncoder().encode(JSON.stringify(entity)),
        mode: 'update',
        atomic: false,
        anyStamp: true,
        access: request.access,
        owner,
        ...(value && { received: { id, value: encodeBinary(value) } }),
      }
      const { entities } = await this.options.write(save, caller)
      const failure = entities[0]?.failure
      if (failure) throw new ProtocolError(failure.error)
    } catch (error) {
      if (value) await uploads.discardUnless(error, value)
      throw error
    }
  }
}
