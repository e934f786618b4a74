import { isShared } from '../../entity-set/members.ts'
import type { ErrorData } from '../../base/errors.ts'
import type { ImageScheduleOptions } from '../../memory/writer/image-schedule.ts'
import type { Progress } from '../../base/progress.ts'
import type { WritingOptions } from '../../data/store-options.ts'
import type { PackedSave } from './packed-result.ts'
import type { SaveResult, WriteRequest, WriteResult } from './requests.ts'
import type { SaveLimits } from './write-limits.ts'
import type { LinkEnd } from './link-messages.ts'
import { isPlainResult, type SentResults, type SentSaves, sendResults, sendSaves } from './plain-saves.ts'
import type { SharedBatches } from './shared-batches.ts'

/**
 * Messages between the client and the writer thread: plain data. Common saves and their results are in shared memory
 * (`plain-saves.ts`). Bodies and rows of the other requests and outcomes of a message share one buffer, which is transferred: a message
 * costs one copy of its bytes and one object for each part. Members of entity sets are in shared memory.
 */

/** Options of the writer thread: `workerData`. */
export interface WriterThreadOptions extends ImageScheduleOptions, WritingOptions {
  limits: SaveLimits
  /** Words of the thread's `Heartbeat`. */
  heartbeat: Int32Array
  /** Memory of `SharedCounts`; undefined: nothing is counted. */
  counts: SharedArrayBuffer | undefined
  /** Memory shared by readers and kept up to date by the writer thread; undefined: none. */
  memory?: WebAssembly.Memory | undefined
  /** Memory of `SharedBatches` for saves, and for their results. */
  batches: { readonly saves: SharedArrayBuffer; readonly results: SharedArrayBuffer }
}

/** Handled in `engine/threads/writer-thread.ts`. */
export type ToWriter =
  /** `clockOffsetMs`: offset of the server's clock from the system's. */
  | { kind: 'write'; clockOffsetMs: number; requests: { id: number; request: WriteRequest }[] }
  /** The same, for saves in shared memory. */
  | { kind: 'save'; clockOffsetMs: number; saves: SentSaves }
  /** A thread that writes directly and synchronously. Its port is transferred. */
  | ({ kind: 'connect' } & LinkEnd)
  /** Followers of the log have read its records up to `sequence`. */
  | { kind: 'followed'; sequence: number }
  | { kind: 'close' }

/** Handled in `engine/write/client/writer-client.ts`. */
export type FromWriter =
  /** The store is open and fits the model. `isLogged`: commits are durable by a log. */
  | { kind: 'ready'; created: boolean; isLogged: boolean }
  /** The store could not be opened. */
  | { kind: 'refused'; error: { name: string; message: string; problems?: readonly string[] } }
  /** Everything that fits has been loaded into shared memory. */
  | { kind: 'memoryFilled' }
  | ({ kind: 'progress' } & Parameters<Progress>[0])
  /** A large save is durable, and will be done when readers see it. */
  | { kind: 'durable'; id: number; result: PackedSave }
  /** `saved`: results in shared memory; `announced`: requests whose result was sent when it was durable. */
  | {
      kind: 'done'
      outcomes: { id: number; outcome: WriteResult | ErrorData }[]
      saved?: SentResults | undefined
      announced: readonly number[]
    }
  /** Jobs have been enqueued. */
  | { kind: 'enqueued' }
  /** Note for the log. */
  | { kind: 'note'; text: string; level?: 'warn' | undefined }
  /** Internal error for the log, which clients do not see. */
  | { kind: 'internalError'; text: string }

export const isWriteResult = (outcome: WriteResult | ErrorData): outcome is WriteResult => 'kind' in outcome

/** A message, and the buffers that it transfers. */
interface Sent<Message> {
  readonly message: Message
  readonly transfer: ArrayBuffer[]
}

/** Message with requests, in their order: in shared memory if all of them are plain saves. */
export function messageOf(
  requests: readonly { id: number; request: WriteRequest }[],
  clockOffsetMs: number,
  batches: SharedBatches,
): Sent<ToWriter> {
  const saves = sendSaves(batches, requests)
  if (saves) return { message: { kind: 'save', clockOffsetMs, saves }, transfer: [] }
  const { packed, buffer } = packBodies(requests.map(({ request }) => request))
  const sentRequests = requests.map(({ id }, i) => ({ id, request: packed[i]! }))
  return { message: { kind: 'write', clockOffsetMs, requests: sentRequests }, transfer: [buffer] }
}

/** Message with the outcomes of requests. @param announced requests whose result has been sent */
export function doneMessageOf(
  outcomes: readonly { id: number; outcome: WriteResult | ErrorData }[],
  announced: readonly number[],
  batches: SharedBatches,
): Sent<FromWriter> {
  const plainResults: { id: number; outcome: SaveResult }[] = []
  const others: { id: number; outcome: WriteResult | ErrorData }[] = []
  for (const { id, outcome } of outcomes) {
    if (isPlainResult(outcome)) plainResults.push({ id, outcome })
    else others.push({ id, outcome })
  }
  const saved = plainResults.length > 0 ? sendResults(batches, plainResults) : undefined
  const sentOutcomes = saved ? others : [...outcomes]
  const message = { kind: 'done', outcomes: sentOutcomes, saved, announced } as const
  return { message, transfer: sentOutcomes.length > 0 ? [packRows(sentOutcomes.map(({ outcome }) => outcome))] : [] }
}

/** Moves the bodies into one separate buffer. @returns the buffer, to be transferred */
function packBodies(requests: readonly WriteRequest[]): { packed: WriteRequest[]; buffer: ArrayBuffer } {
  const { take, buffer } = packer(requests.flatMap(bodiesOf))
  const pack = (request: WriteRequest): WriteRequest => {
    if (request.kind === 'save') return { ...request, body: take(request.body) }
    if (request.kind !== 'entitySets') return request
    const changes = request.changes.map(each => (each.members ? { ...each, members: take(each.members) } : each))
    return { ...request, changes }
  }
  return { packed: requests.map(pack), buffer }
}

/** Byte arrays of a request, except small ones, which are cloned with the message. */
export function bodiesOf(request: WriteRequest): Uint8Array[] {
  if (request.kind === 'save') return [request.body, ...(request.encoded ?? [])]
  if (request.kind === 'insert') return [request.encoded]
  return request.kind === 'entitySets' ? request.changes.flatMap(({ members }) => members ?? []) : []
}

/** Moves the rows of results into one buffer. @returns the buffer, to be transferred */
export function packRows(outcomes: readonly (WriteResult | ErrorData)[]): ArrayBuffer {
  const saveResults = outcomes.filter((outcome): outcome is SaveResult => 'entities' in outcome)
  const entities = saveResults.flatMap(result => result.entities.filter(entity => entity.row))
  const { take, buffer } = packer(entities.map(entity => entity.row!))
  for (const entity of entities) entity.row = take(entity.row!)
  return buffer
}

function packer(parts: readonly Uint8Array[]): { take: (part: Uint8Array) => Uint8Array; buffer: ArrayBuffer } {
  const ownParts = parts.filter(part => !isShared(part))
  const buffer = new ArrayBuffer(ownParts.reduce((sum, part) => sum + part.length, 0))
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
