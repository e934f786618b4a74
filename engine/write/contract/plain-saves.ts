import type { ErrorData } from '../../base/errors.ts'
import type { SavedEntity, SaveRequest, SaveResult, WriteRequest, WriteResult } from './requests.ts'
import { type SharedBatches, wordsFor } from './shared-batches.ts'

/**
 * Common saves and their results as records in shared memory. As objects in a message, they cost both threads more than everything else
 * that passes between them; all other requests and outcomes are sent as objects.
 */

/** Longer bodies, and results with more bytes of rows, are sent in messages. */
const MAX_BYTES = 16 * 1024
const MAX_ENTITIES = 100
/** Length of a session's handle is 32. */
const MAX_OWNER = 64

/** Fields that plain saves in a batch usually share. */
type Head = Pick<SaveRequest, 'dataClass' | 'access' | 'mode' | 'atomic'>

/** A batch of saves. */
export interface SentSaves {
  readonly at: number
  readonly count: number
  readonly heads: readonly Head[]
}

/** A batch of results. */
export interface SentResults {
  readonly at: number
  readonly count: number
}

interface Numbered<T> {
  id: number
  request: T
}

/** Words of a save: its id, index of its head, lengths of owner and body; then owner and body, each from a new word on. */
const SAVE_WORDS = 4
/** Words of a result: its id, 1 for `many`, number of entities, low and high word of the global stamp; then the entities, then the rows. */
const RESULT_WORDS = 5
/** Words of an entity: row id, length of its row. */
const ENTITY_WORDS = 2
const HIGH = 2 ** 32

type PlainField = keyof Head | 'kind' | 'body' | 'owner'
type OtherField =
  | 'parts'
  | 'encoded'
  | 'trusted'
  | 'user'
  | 'moment'
  | 'hooked'
  | 'reads'
  | 'anyStamp'
  | 'ifMatch'
  | 'uploads'
  | 'mark'
  | 'returning'
  | 'received'
/** Does not compile if a field of a save is in neither list. */
const HAS_ALL_FIELDS: Exclude<keyof SaveRequest, PlainField | OtherField> extends never ? true : never = true

/** True if the fields of a {@link Head}, an owner and a body are all of the request. */
function isPlain(request: WriteRequest): request is SaveRequest {
  return (
    HAS_ALL_FIELDS &&
    request.kind === 'save' &&
    request.body.byteLength <= MAX_BYTES &&
    request.parts === undefined &&
    request.encoded === undefined &&
    !request.trusted &&
    request.user === undefined &&
    request.moment === undefined &&
    request.hooked === undefined &&
    request.reads === undefined &&
    !request.anyStamp &&
    request.ifMatch === undefined &&
    request.uploads === undefined &&
    request.mark === undefined &&
    request.returning === undefined &&
    request.received === undefined &&
    isShortAscii(request.owner)
  )
}

function isShortAscii(text: string | undefined): boolean {
  if (text === undefined) return true
  if (text.length > MAX_OWNER) return false
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/** Puts saves into shared memory. @returns undefined if one of them is not plain, or there is no room */
export function sendSaves(batches: SharedBatches, requests: readonly Numbered<WriteRequest>[]): SentSaves | undefined {
  let wordCount = 0
  for (const { request } of requests) {
    if (!isPlain(request)) return undefined
    wordCount += SAVE_WORDS + wordsFor(request.owner?.length ?? 0) + wordsFor(request.body.byteLength)
  }
  const at = batches.reserve(wordCount)
  if (at === undefined) return undefined
  const heads: Head[] = []
  let next = at
  for (const { id, request } of requests) next = writeSave(batches, next, id, request as SaveRequest, heads)
  return { at, count: requests.length, heads }
}

/** @returns the word after the save */
function writeSave({ words, bytes }: SharedBatches, at: number, id: number, save: SaveRequest, heads: Head[]): number {
  const { owner = '', body } = save
  words[at] = id
  words[at + 1] = headOf(save, heads)
  // 0 for no owner, otherwise one more than its length.
  words[at + 2] = save.owner === undefined ? 0 : owner.length + 1
  words[at + 3] = body.byteLength
  const ownerAt = at + SAVE_WORDS
  if (owner !== '') bytes.write(owner, 4 * ownerAt, 'latin1')
  const bodyAt = ownerAt + wordsFor(owner.length)
  bytes.set(body, 4 * bodyAt)
  return bodyAt + wordsFor(body.byteLength)
}

/** Index of a save's head in `heads`, which is extended if it is new. */
function headOf({ dataClass, access, mode, atomic }: SaveRequest, heads: Head[]): number {
  for (let i = 0; i < heads.length; i++) {
    const head = heads[i]!
    if (head.dataClass === dataClass && head.access === access && head.mode === mode && head.atomic === atomic) return i
  }
  return heads.push({ dataClass, access, mode, atomic }) - 1
}

/** Copies saves out of shared memory, and releases their batch. */
export function receiveSaves(batches: SharedBatches, { at, count, heads }: SentSaves): Numbered<SaveRequest>[] {
  const { words, bytes } = batches
  const requests: Numbered<SaveRequest>[] = []
  let next = at
  for (let i = 0; i < count; i++) {
    const { dataClass, access, mode, atomic } = heads[words[next + 1]!]!
    const ownerLength = words[next + 2]! - 1
    const bodyLength = words[next + 3]!
    const ownerAt = next + SAVE_WORDS
    const owner = ownerLength < 0 ? undefined : bytes.toString('latin1', 4 * ownerAt, 4 * ownerAt + ownerLength)
    const bodyAt = ownerAt + wordsFor(Math.max(0, ownerLength))
    const body = copyOf(bytes, 4 * bodyAt, bodyLength)
    requests.push({ id: words[next]!, request: { kind: 'save', dataClass, access, body, mode, atomic, owner } })
    next = bodyAt + wordsFor(bodyLength)
  }
  batches.release()
  return requests
}

/** True for a save that has stored all its entities. */
export function isPlainResult(outcome: WriteResult | ErrorData): outcome is SaveResult {
  if (!('kind' in outcome) || outcome.kind !== 'save' || outcome.entities.length > MAX_ENTITIES) return false
  let bytes = 0
  for (const { row, rowId, failure, isOutdated } of outcome.entities) {
    if (!row || rowId === undefined || failure || isOutdated) return false
    bytes += row.byteLength
  }
  return bytes <= MAX_BYTES
}

/** Puts plain results into shared memory. @returns undefined if there is no room */
export function sendResults(
  batches: SharedBatches,
  results: readonly { id: number; outcome: SaveResult }[],
): SentResults | undefined {
  let wordCount = 0
  for (const { outcome } of results) {
    wordCount += RESULT_WORDS + ENTITY_WORDS * outcome.entities.length
    for (const { row } of outcome.entities) wordCount += wordsFor(row!.byteLength)
  }
  const at = batches.reserve(wordCount)
  if (at === undefined) return undefined
  let next = at
  for (const { id, outcome } of results) next = writeResult(batches, next, id, outcome)
  return { at, count: results.length }
}

/** @returns the word after the result */
function writeResult({ words, bytes }: SharedBatches, at: number, id: number, result: SaveResult): number {
  const { many, entities, globalStamp } = result
  words[at] = id
  words[at + 1] = many ? 1 : 0
  words[at + 2] = entities.length
  words[at + 3] = globalStamp % HIGH
  words[at + 4] = Math.floor(globalStamp / HIGH)
  let entityAt = at + RESULT_WORDS
  let rowAt = entityAt + ENTITY_WORDS * entities.length
  for (const { row, rowId } of entities) {
    words[entityAt] = rowId!
    words[entityAt + 1] = row!.byteLength
    bytes.set(row!, 4 * rowAt)
    entityAt += ENTITY_WORDS
    rowAt += wordsFor(row!.byteLength)
  }
  return rowAt
}

/** Copies results out of shared memory, and releases their batch. */
export function receiveResults(
  batches: SharedBatches,
  { at, count }: SentResults,
): { id: number; outcome: SaveResult }[] {
  const { words, bytes } = batches
  const results: { id: number; outcome: SaveResult }[] = []
  let next = at
  for (let i = 0; i < count; i++) {
    const entityCount = words[next + 2]!
    const globalStamp = words[next + 4]! * HIGH + words[next + 3]!
    const entities: SavedEntity[] = []
    let entityAt = next + RESULT_WORDS
    let rowAt = entityAt + ENTITY_WORDS * entityCount
    for (let e = 0; e < entityCount; e++, entityAt += ENTITY_WORDS) {
      const length = words[entityAt + 1]!
      entities.push({ row: copyOf(bytes, 4 * rowAt, length), rowId: words[entityAt]! })
      rowAt += wordsFor(length)
    }
    results.push({ id: words[next]!, outcome: { kind: 'save', many: words[next + 1] === 1, entities, globalStamp } })
    next = rowAt
  }
  batches.release()
  return results
}

/** A copy outside of shared memory; short ones share a buffer. */
function copyOf(bytes: Buffer, start: number, length: number): Uint8Array {
  const copy = Buffer.allocUnsafe(length)
  bytes.copy(copy, 0, start, start + length)
  return copy
}
