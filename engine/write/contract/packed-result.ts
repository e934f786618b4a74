import type { ErrorData } from '../../base/errors.ts'
import type { SavedEntity, SaveFailure, SaveResult, WriteResult } from './requests.ts'

/**
 * The result of a large save as bytes in shared memory. It reaches the thread that writes the answer without a copy, and without an object
 * for each entity.
 */
export interface PackedSave extends Pick<SaveResult, 'kind' | 'many' | 'globalStamp'> {
  /** HTTP status of the answer: the status of the first failure. */
  readonly status: number
  /** Rows of all entities, one after the other. */
  readonly rows: Uint8Array
  /** {@link WORDS} for each entity: end of its row, row id, number of its failure, which is {@link NONE} if it was saved. */
  readonly index: Uint32Array
  /** JSON of the distinct failures. */
  readonly failures: Uint8Array
}

/** Results with more entities or bytes are packed. Reading a smaller one takes the kernel thread a millisecond at most. */
const MAX_ENTITIES = 200
const MAX_ROW_BYTES = 512 * 1024

const WORDS = 3
const NONE = 0xffffffff

export const isLargeResult = (outcome: WriteResult | ErrorData): outcome is SaveResult =>
  'entities' in outcome && (outcome.entities.length > MAX_ENTITIES || rowBytes(outcome.entities) > MAX_ROW_BYTES)

const rowBytes = (entities: readonly SavedEntity[]): number => {
  let bytes = 0
  for (const { row } of entities) if (row) bytes += row.length
  return bytes
}

/** HTTP status of the answer to a save: the status of the first failure. */
export const statusOf = (result: SaveResult): number =>
  result instanceof PackedResult
    ? result.packedSave.status
    : (result.entities.find(({ failure }) => failure)?.failure?.error.httpStatus ?? 200)

export function packResult(result: SaveResult): PackedSave {
  const { kind, many, globalStamp, entities } = result
  const failures = new Map<SaveFailure, number>()
  const rows = new Uint8Array(new SharedArrayBuffer(rowBytes(entities)))
  const index = new Uint32Array(new SharedArrayBuffer(entities.length * WORDS * Uint32Array.BYTES_PER_ELEMENT))
  let end = 0
  for (const [i, { row, rowId, failure }] of entities.entries()) {
    if (row) {
      rows.set(row, end)
      end += row.length
    }
    if (failure && !failures.has(failure)) failures.set(failure, failures.size)
    index[i * WORDS] = row ? end : NONE
    index[i * WORDS + 1] = rowId ?? NONE
    index[i * WORDS + 2] = failure ? failures.get(failure)! : NONE
  }
  const json = Buffer.from(JSON.stringify([...failures.keys()]))
  const packedFailures = new Uint8Array(new SharedArrayBuffer(json.length))
  packedFailures.set(json)
  return { kind, many, globalStamp, status: statusOf(result), rows, index, failures: packedFailures }
}

/** Words before the parts of a packed result: `many`, status, both halves of the global stamp, lengths of the parts in bytes. */
const HEAD_WORDS = 7
const HIGH = 2 ** 32

/** A packed result as one array in shared memory, for outcomes that are bytes. */
export function joinPacked({ many, status, globalStamp, index, rows, failures }: PackedSave): Uint8Array {
  const parts = [new Uint8Array(index.buffer, index.byteOffset, index.byteLength), rows, failures]
  const lengths = parts.map(part => part.length)
  const head = Uint32Array.of(many ? 1 : 0, status, globalStamp % HIGH, Math.floor(globalStamp / HIGH), ...lengths)
  const bytes = new Uint8Array(new SharedArrayBuffer(lengths.reduce((sum, length) => sum + length, head.byteLength)))
  let end = 0
  for (const part of [new Uint8Array(head.buffer), ...parts]) {
    bytes.set(part, end)
    end += part.length
  }
  return bytes
}

/** Opens the result of {@link joinPacked} in place. */
export function openPacked({ buffer, byteOffset }: Uint8Array): PackedSave {
  const [many, status, low, high, ...lengths] = new Uint32Array(buffer, byteOffset, HEAD_WORDS)
  let at = byteOffset + HEAD_WORDS * Uint32Array.BYTES_PER_ELEMENT
  const [index, rows, failures] = lengths.map(length => {
    const part = new Uint8Array(buffer, at, length)
    at += length
    return part
  }) as [Uint8Array, Uint8Array, Uint8Array]
  return {
    kind: 'save',
    many: many === 1,
    status: status!,
    globalStamp: high! * HIGH + low!,
    index: new Uint32Array(index.buffer, index.byteOffset, index.length / Uint32Array.BYTES_PER_ELEMENT),
    rows,
    failures,
  }
}

/** A packed result with the interface of any other: its entities are unpacked on first use. */
export class PackedResult implements SaveResult {
  readonly kind = 'save'
  private unpacked: SavedEntity[] | undefined

  constructor(readonly packedSave: PackedSave) {}

  get many(): boolean {
    return this.packedSave.many
  }

  get globalStamp(): number {
    return this.packedSave.globalStamp
  }

  get entities(): SavedEntity[] {
    this.unpacked ??= unpack(this.packedSave)
    return this.unpacked
  }
}

function unpack({ rows, index, failures }: PackedSave): SavedEntity[] {
  const saveFailures = JSON.parse(Buffer.from(failures).toString()) as SaveFailure[]
  const entities: SavedEntity[] = []
  let rowStart = 0
  for (let i = 0; i < index.length; i += WORDS) {
    const entity: SavedEntity = {}
    const rowEnd = index[i]!
    const rowId = index[i + 1]!
    const failure = index[i + 2]!
    if (rowEnd !== NONE) {
      entity.row = rows.subarray(rowStart, rowEnd)
      rowStart = rowEnd
    }
    if (rowId !== NONE) entity.rowId = rowId
    if (failure !== NONE) entity.failure = saveFailures[failure]!
    entities.push(entity)
  }
  return entities
}
