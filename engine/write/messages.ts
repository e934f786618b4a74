import type { WireOptions } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'
import { isShared } from '../entity-set/members.ts'
import type { ErrorData } from '../errors.ts'
import type { ImageScheduleOptions } from '../memory/image-schedule.ts'
import type { Progress } from '../migration/migrate-data.ts'
import type { LockOwner } from '../storage/store-lock.ts'
import type { SaveResult, WriteRequest, WriteResult } from './requests.ts'
import type { LinkEnd } from './writer-link.ts'

/**
 * What crosses between the client and the writer thread: plain data. Bodies and rows of a message share one buffer, which
 * is transferred: a message costs one copy of its bytes and one object for each part. Members of entity sets are in memory
 * that is shared anyway.
 */

/** Where the writer works and on what: `workerData`. */
export interface WriterThreadOptions extends ImageScheduleOptions {
  /** Folder of the store. */
  path: string
  mapSizeBytes: number
  /** Checked before the thread is started. */
  model: Model
  wire: WireOptions
  allowLoss: boolean
  owner: LockOwner
  /** The thread counts its transactions here, once when one begins and once when it ends. */
  heartbeat: Int32Array
  /** What readers share, kept up to date by the thread; undefined: there is none. */
  memory?: WebAssembly.Memory | undefined
}

export type ToWriter =
  | { kind: 'write'; requests: { id: number; request: WriteRequest }[] }
  /** A thread that writes by itself and waits for it. Its port is transferred. */
  | ({ kind: 'connect' } & LinkEnd)
  | { kind: 'close' }

export type FromWriter =
  /** The store is open and fits the model. */
  | { kind: 'ready'; created: boolean }
  /** It could not be opened. */
  | { kind: 'refused'; error: { name: string; message: string; problems?: readonly string[] } }
  /** Everything that fits is in shared memory. */
  | { kind: 'memoryFilled' }
  | ({ kind: 'progress' } & Parameters<Progress>[0])
  | { kind: 'done'; outcomes: { id: number; outcome: WriteResult | ErrorData }[] }
  /** For the log: what is worth knowing. */
  | { kind: 'note'; text: string }
  /** For the log: clients are not told. */
  | { kind: 'internalError'; text: string }

export const isWriteResult = (outcome: WriteResult | ErrorData): outcome is WriteResult => 'kind' in outcome

/** Moves the bodies into one buffer of their own. @returns it, to be transferred */
export function packBodies(requests: readonly WriteRequest[]): { packed: WriteRequest[]; buffer: ArrayBuffer } {
  const { take, buffer } = packer(requests.flatMap(bodiesOf))
  const pack = (request: WriteRequest): WriteRequest => {
    switch (request.kind) {
      case 'save':
        return { ...request, body: take(request.body) }
      case 'delete':
      case 'calculated':
      case 'records':
      case 'lock':
      case 'freeLocks':
      case 'uploads':
        return request
      case 'entitySets':
        return {
          ...request,
          changes: request.changes.map(change =>
            change.members ? { ...change, members: take(change.members) } : change,
          ),
        }
    }
  }
  return { packed: requests.map(pack), buffer }
}

/** What a request brings in bytes. */
export function bodiesOf(request: WriteRequest): Uint8Array[] {
  switch (request.kind) {
    case 'save':
      return [request.body]
    case 'delete':
    case 'calculated':
    case 'records':
    case 'lock':
    case 'freeLocks':
      return []
    // Small, and cloned with the message.
    case 'uploads':
      return []
    case 'entitySets':
      return request.changes.flatMap(({ members }) => members ?? [])
  }
}

/** Moves the rows of results into one buffer. @returns it, to be transferred */
export function packRows(outcomes: readonly (WriteResult | ErrorData)[]): ArrayBuffer {
  const saved = outcomes.filter((outcome): outcome is SaveResult => isWriteResult(outcome) && outcome.kind === 'save')
  const entities = saved.flatMap(result => result.entities.filter(entity => entity.row))
  const { take, buffer } = packer(entities.map(entity => entity.row!))
  for (const entity of entities) entity.row = take(entity.row!)
  return buffer
}

function packer(parts: readonly Uint8Array[]): { take: (part: Uint8Array) => Uint8Array; buffer: ArrayBuffer } {
  const own = parts.filter(part => !isShared(part))
  const buffer = new ArrayBuffer(own.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  const take = (part: Uint8Array): Uint8Array => {
    if (isShared(part)) return part
    const copy = new Uint8Array(buffer, at, part.length)
    copy.set(part)
    at += part.length
    return copy
  }
  return { take, buffer }
}
