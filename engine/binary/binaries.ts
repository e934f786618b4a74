import { isBinary } from '../catalog/attribute.ts'
import type { BinaryFile, BinaryValue } from '../catalog/value.ts'
import { ProtocolError } from '../base/errors.ts'
import type { View } from '../catalog/view.ts'
import type { Access } from '../permission/views.ts'
import type { Caller } from '../caller/caller.ts'
import type { Backends } from '../backend/backends.ts'
import type { Promised } from '../base/promised.ts'
import { demandUniqueAddress } from '../query/bind/demand-unique-address.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import { SerialiseErrors } from '../answer/serialise-errors.ts'
import { DamagedFileError } from '../files/binary-files.ts'
import { encodeBinary } from '../files/encode-binary.ts'
import type { ReadStore } from '../data/read-store.ts'
import type { SaveRequest, SaveResult } from '../write/contract/requests.ts'
import { BinaryErrors } from './binary-errors.ts'
import { findRemote, openRemote } from './remote-binary.ts'
import type { BinaryAttribute, StoredBinary } from './stored-binary.ts'
import { BinaryReader, type ByteSource } from '../files/binary-reader.ts'
import { newUploadId, type Uploads } from './uploads.ts'

export interface BinariesOptions {
  readonly data: ReadStore
  readonly backends: Backends
  readonly uploads: Uploads
  view(access: Access | undefined): View
  write(request: SaveRequest, caller?: Caller): Promise<SaveResult>
  /** Memory for recently read pieces. */
  readonly cacheBytes: number
  onInternalError?: ((text: string) => void) | undefined
}

const NOTHING = new Uint8Array(0)

/** Images and blobs of entities, addressed by the request for one attribute of one entity. */
export class Binaries {
  private readonly reader: BinaryReader

  constructor(private readonly options: BinariesOptions) {
    this.reader = new BinaryReader(options.data.records.files, options.cacheBytes)
  }

  /** Memory and lookups of the cache of pieces. */
  get cacheUsage(): { bytes: number; hits: number; misses: number } {
    return this.reader.pieces.usage
  }

  /**
   * The image or blob attribute that `request` addresses, if its attribute list has nothing else and it reads one entity.
   */
  addressed({ dataClass, access, output }: ReadRequest): BinaryAttribute | undefined {
    const items = output.attributes?.items
    if (output.form !== 'entity' || items?.length !== 1 || items[0]!.path.length !== 1) return undefined
    const view = this.options.view(access)
    const attribute = view.attribute(view.dataClass(dataClass), items[0]!.path[0]!)
    return attribute?.kind === 'storage' && isBinary(attribute.type) ? (attribute as BinaryAttribute) : undefined
  }

  /**
   * Finds the value of the one entity that `request` selects; null if it has none.
   * @throws {ProtocolError} also if the store has lost its bytes
   */
  find(request: ReadRequest, attribute: BinaryAttribute, caller?: Caller): Promised<StoredBinary | null> {
    const { data, backends } = this.options
    const backend = backends.of(attribute.dataClass)
    if (backend.readBytes)
      return findRemote(backends.withRights(request), attribute, bytes => backend.readBytes!(bytes, caller))
    const binaryOf = (rowId: number): StoredBinary | null =>
      data.read(snapshot => {
        const table = snapshot.table(attribute.dataClass)
        const row = table.row(rowId)
        if (!row || row.value(attribute) === null) return null
        // Read before the next read from LMDB, which may overwrite the row's buffer.
        const { stamp, globalStamp, version } = row
        const value = table.binary(rowId, attribute)
        if (!value) throw this.reportLoss(attribute, `the bytes of row ${rowId} are missing in the store`)
        return { attribute, value, stamp, id: `${globalStamp} ${attribute.name}`, version }
      })
    const rowId = backends.rowId(request, caller)
    return rowId instanceof Promise ? rowId.then(binaryOf) : binaryOf(rowId)
  }

  /**
   * Opens the bytes of `value` from `start` up to `end`, exclusive; to be closed. The first piece has been read and verified, so
   * that an answer does not begin with bytes that cannot be sent.
   * @returns undefined if there is no file: the value has been replaced since it was found, or is {@link missing}
   * @throws {BinaryErrors.BYTES_LOST} if the file is damaged
   */
  open({ value, attribute, read }: StoredBinary, start = 0, end = value.size): Promised<ByteSource | undefined> {
    if (read) return openRemote(read, start, end)
    let source: ByteSource
    try {
      source = this.reader.open(value, start, end)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    const first = source.size > 0 ? source.read(0) : NOTHING
    if (!(first instanceof Promise)) return source
    return first.then(
      piece => startingWith(piece, source),
      error => {
        source.close()
        throw error instanceof DamagedFileError ? this.reportLoss(attribute, error.message) : error
      },
    )
  }

  /** Logs a value whose file is missing although it has not been replaced. @returns the error */
  missing({ attribute, value: { content } }: StoredBinary): ProtocolError {
    return this.reportLoss(attribute, `the file ${(content as BinaryFile).id} of the store is missing`)
  }

  private reportLoss(attribute: BinaryAttribute, what: string): ProtocolError {
    const name = `${attribute.dataClass.name}.${attribute.name}`
    this.options.onInternalError?.(`${name}: ${what}; put it back from a backup, or set the attribute again`)
    return BinaryErrors.BYTES_LOST(attribute.name)
  }

  /**
   * The image or blob attribute that a write addresses. To be called before its bytes are received.
   * @throws {QueryErrors.NOT_UNIQUE} the address may name several entities
   */
  addressedForWriting(request: ReadRequest): BinaryAttribute {
    demandUniqueAddress(request, this.options.view(request.access))
    return this.addressed(request)!
  }

  private async localKey(
    request: ReadRequest,
    { dataClass }: BinaryAttribute,
    caller?: Caller,
  ): Promise<string | undefined> {
    const { data, backends } = this.options
    const rowId = await backends.rowId(request, caller)
    return data.read(snapshot => snapshot.table(dataClass).row(rowId)?.key)
  }

  /**
   * Sets the value in the one entity that `request` selects, whatever its version unless `ifMatch` is given; resolves when this is
   * durable. The received bytes are discarded on failure.
   * @param options handle of the session, for locked entities, and the versions that may be changed
   * @throws {ProtocolError} also if the entity has been deleted meanwhile
   */
  async save(
    request: ReadRequest,
    attribute: BinaryAttribute,
    value: BinaryValue | null,
    { owner, ifMatch }: Pick<SaveRequest, 'owner' | 'ifMatch'>,
    caller?: Caller,
  ): Promise<void> {
    const { uploads } = this.options
    const id = newUploadId()
    try {
      const { backends } = this.options
      const backend = backends.of(attribute.dataClass)
      const bytes = { read: backends.withRights(request), attribute: attribute.name, start: 0, end: 0 }
      const key = backend.readBytes
        ? (await backend.readBytes(bytes, caller)).key
        : await this.localKey(request, attribute, caller)
      // The entity has been deleted since it was found. Without a key the writer would create a new one.
      if (key === undefined) throw SerialiseErrors.NO_ENTITY(request.dataClass)
      const entity = { __KEY: key, [attribute.name]: value && { ID: id } }
      const save: SaveRequest = {
        kind: 'save',
        dataClass: request.dataClass,
        body: new TextEncoder().encode(JSON.stringify(entity)),
        mode: 'update',
        atomic: false,
        anyStamp: true,
        ifMatch,
        access: request.access,
        owner,
        ...(value && { received: { id, value: encodeBinary(value) } }),
      }
      const { entities } = await this.options.write(save, caller)
      const failure = entities[0]?.failure
      if (failure) throw new ProtocolError(failure.error)
      // The database has its own copy of the bytes.
      if (value && backend.readBytes) await uploads.discard(value)
    } catch (error) {
      if (value) await uploads.discardUnless(error, value)
      throw error
    }
  }
}

/** A source that returns its first piece, which has been read already, once. */
function startingWith(piece: Uint8Array, source: ByteSource): ByteSource {
  let first: Uint8Array | undefined = piece
  return {
    size: source.size,
    read(at) {
      const firstPiece = at === 0 ? first : undefined
      first = undefined
      return firstPiece ?? source.read(at)
    },
    close: () => source.close(),
  }
}
