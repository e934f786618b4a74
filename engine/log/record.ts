import { deserialize, serialize } from 'node:v8'
import { KeptBuffer } from '../base/kept-buffer.ts'
import type { Fingerprints } from '../catalog/calculated.ts'
import { type Change, DELETED } from '../data/change.ts'
import type { RecordChange, TableState } from '../data/record-store.ts'
import type { StoredSetChange } from '../data/stored-sets.ts'
import type { UploadChange } from '../data/stored-uploads.ts'

/**
 * One effect of a commit: what was put, never the request or the code that caused it. Indexes, reference counts and the change log follow
 * from it.
 */
export type Effect =
  | { readonly kind: 'row'; readonly change: Change }
  /** @property key from `binaryKey` @property value as encoded by `encodeBinary`; null removes it */
  | { readonly kind: 'binary'; readonly key: Uint8Array; readonly value: Uint8Array | null }
  | { readonly kind: 'upload'; readonly change: UploadChange }
  | { readonly kind: 'set'; readonly change: StoredSetChange }
  | { readonly kind: 'record'; readonly change: RecordChange }
  | { readonly kind: 'fingerprints'; readonly tableNumber: number; readonly fingerprints: Fingerprints }

/** A commit, as the log holds it. */
export interface CommitRecord {
  /** Time of the commit in milliseconds since 1970. */
  readonly time: number
  /** Global stamp after the commit. */
  readonly globalStamp: number
  /** Counters of the tables that the commit has changed, by table number. */
  readonly states: ReadonlyMap<number, TableState>
  /** Effects in their order. */
  readonly effects: readonly Effect[]
}

const VERSION = 1
const HEADER_BYTES = 25
const STATE_BYTES = 18
const ROW_BYTES = 11
/** Code of effects that are not changes of rows, whose codes are the operations of `Change`. */
const OTHER = 0
const RECORD = 255
const OTHER_BYTES = 5

const records = new KeptBuffer()

/**
 * Encodes a record: version u8, time f64, global stamp f64, number of states u32, number of effects u32; for each state its table
 * u16, next row id u32, row count u32, next auto-increment f64; for each row the operation u8, table u16, row id u32, length u32 and
 * bytes; for each record of the store 255 as u8, length u32 and JSON, `[key, value]` or `[key]`; for each other effect 0 as u8, length
 * u32 and the effect as `v8.serialize` writes it, which takes three times as long. Numbers are little-endian.
 * @returns bytes that are valid until the next record is encoded
 */
export function encodeRecord({ time, globalStamp, states, effects }: CommitRecord): Buffer {
  const otherBytes: Buffer[] = []
  let length = HEADER_BYTES + states.size * STATE_BYTES
  for (const effect of effects) {
    if (effect.kind === 'row') length += ROW_BYTES + (effect.change.row?.length ?? 0)
    else {
      const bytes = effect.kind === 'record' ? recordJson(effect.change) : serialize(unshareMembers(effect))
      otherBytes.push(bytes)
      length += OTHER_BYTES + bytes.length
    }
  }
  const bytes = records.take(length)
  bytes[0] = VERSION
  bytes.writeDoubleLE(time, 1)
  bytes.writeDoubleLE(globalStamp, 9)
  bytes.writeUInt32LE(states.size, 17)
  let at = bytes.writeUInt32LE(effects.length, 21)
  for (const [tableNumber, { nextRowId, rowCount, nextAutoIncrement }] of states) {
    at = bytes.writeUInt16LE(tableNumber, at)
    at = bytes.writeUInt32LE(nextRowId, at)
    at = bytes.writeUInt32LE(rowCount, at)
    at = bytes.writeDoubleLE(nextAutoIncrement, at)
  }
  let other = 0
  for (const effect of effects) {
    if (effect.kind !== 'row') {
      const content = otherBytes[other++]!
      at = bytes.writeUInt8(effect.kind === 'record' ? RECORD : OTHER, at)
      at = bytes.writeUInt32LE(content.length, at)
      at += content.copy(bytes, at)
      continue
    }
    const { operation, tableNumber, rowId, row } = effect.change
    at = bytes.writeUInt8(operation, at)
    at = bytes.writeUInt16LE(tableNumber, at)
    at = bytes.writeUInt32LE(rowId, at)
    at = bytes.writeUInt32LE(row?.length ?? 0, at)
    if (row) {
      bytes.set(row, at)
      at += row.length
    }
  }
  return bytes
}

/** Time and global stamp of a record. */
export function readRecordHead(record: Uint8Array): Pick<CommitRecord, 'time' | 'globalStamp'> {
  const bytes = Buffer.from(record.buffer, record.byteOffset, HEADER_BYTES)
  return { time: bytes.readDoubleLE(1), globalStamp: bytes.readDoubleLE(9) }
}

/** @throws {Error} for a version that this code does not know */
export function decodeRecord(record: Uint8Array): CommitRecord {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.length)
  if (bytes[0] !== VERSION) {
    throw new Error(`a record of the log has version ${bytes[0]}; this version of Tesser reads version ${VERSION}`)
  }
  const states = new Map<number, TableState>()
  let at = HEADER_BYTES
  for (let i = bytes.readUInt32LE(17); i > 0; i--) {
    states.set(bytes.readUInt16LE(at), {
      nextRowId: bytes.readUInt32LE(at + 2),
      rowCount: bytes.readUInt32LE(at + 6),
      nextAutoIncrement: bytes.readDoubleLE(at + 10),
    })
    at += STATE_BYTES
  }
  const effects: Effect[] = []
  for (let i = bytes.readUInt32LE(21); i > 0; i--) {
    const operation = bytes[at]!
    const isRow = operation !== OTHER && operation !== RECORD
    const start = at + (isRow ? ROW_BYTES : OTHER_BYTES)
    const end = start + bytes.readUInt32LE(start - 4)
    if (operation === RECORD) {
      const [key, value] = JSON.parse(bytes.toString('utf8', start, end)) as [string, unknown?]
      effects.push({ kind: 'record', change: { key, value } })
    } else if (!isRow) effects.push(deserialize(bytes.subarray(start, end)) as Effect)
    else {
      const change: Change = { tableNumber: bytes.readUInt16LE(at + 1), rowId: bytes.readUInt32LE(at + 3), operation }
      if (operation !== DELETED || end > start) change.row = new Uint8Array(bytes.subarray(start, end))
      effects.push({ kind: 'row', change })
    }
    at = end
  }
  return { time: bytes.readDoubleLE(1), globalStamp: bytes.readDoubleLE(9), states, effects }
}

/** JSON of a change: only the key if the value is `undefined`, which JSON does not have. */
const recordJson = ({ key, value }: RecordChange): Buffer =>
  Buffer.from(JSON.stringify(value === undefined ? [key] : [key, value]))

/** Copies the members of an entity set out of shared memory, which cannot be serialized. */
function unshareMembers(effect: Effect): Effect {
  if (effect.kind !== 'set' || !effect.change.members) return effect
  return { kind: 'set', change: { ...effect.change, members: new Uint8Array(effect.change.members) } }
}
