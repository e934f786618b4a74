import { stringifyExact } from '../../base/exact-json.ts'
import type { Binding } from '../data-api/binding.ts'
import type { EntityBase } from '../data-api/entity.ts'
import { internals } from '../data-api/entity-internals.ts'
import type { Language } from '../data-api/language.ts'
import { partsOf } from '../../write/body-outline.ts'
import { unsavedId } from '../../query/serialise/row-writer.ts'
import { FailureDigest } from '../../write/failure-digest.ts'
import { isJsonObject, openBody, type SaveBody } from '../../write/parse-body.ts'
import { own } from '../../write/read-element.ts'
import type { BodyParts, SavedEntity, SaveRequest, SaveResult } from '../../write/contract/requests.ts'
import { notFound } from '../../write/contract/write-errors.ts'
import {
  bodyLimits,
  checkTransactionSize,
  isOneTransaction,
  type SaveLimits,
  TRUSTED_BODY,
} from '../../write/contract/write-limits.ts'
import type { Hooks, Preview } from './hooks.ts'
import { type Prepared, prepareElement } from './prepare-element.ts'

/** A save that takes one request to the writer. */
interface OneWrite<Answer> {
  readonly write: SaveRequest
  /** Goes on when the writer has answered. */
  complete(result: SaveResult): Answer
}

/** Number of entities in one request to the writer, so that other requests can interleave. */
const SLICE = 500

/**
 * Saves the body of a client with the plugin code of its dataclass. The writer receives the original body, so that it reports
 * invalid elements as usual, together with the result of the code for each element.
 * @param answer makes the answer; in it, calculated attributes of unsaved entities are computed from their new values
 * @returns the answer; for most saves what is to be written first, so that the thread can run others meanwhile
 * @throws errors of the body as a whole; what code throws
 * Source: base specification 4.4; protocol notes 5 and 9.
 */
export function saveElements<Answer>(
  request: SaveRequest,
  limits: SaveLimits,
  language: Language,
  hooks: Hooks,
  answer: (saved: SaveResult) => Answer,
): Answer | OneWrite<Answer> {
  const binding = language.binding(request.dataClass)
  const { mode, atomic, trusted = false, parts } = request
  const body = openBody(request, binding.dataClass, trusted ? TRUSTED_BODY : bodyLimits(request, limits))
  checkTransactionSize(request, body.length, limits)
  const context = { trusted, view: language.views.of(request.access, trusted ? 'code' : 'client'), binding, hooks }
  const entities: SavedEntity[] = []
  /** `__KEY` as it was sent, for entities that were not saved. */
  const sentKeys = new Map<number, unknown>()
  /** Entities that have not failed, by their index. */
  const fine = new Map<number, EntityBase>()
  const digest = new FailureDigest(trusted ? Number.POSITIVE_INFINITY : limits.maxDescribed)
  let globalStamp = 0
  const writing: Writing = {
    language,
    prepare(slice) {
      const isAll = slice.length === body.length
      const sent = isAll ? request.body : Buffer.from(stringifyExact(slice))
      const sentParts = isAll ? (parts ?? partsOf(sent)) : partsOf(sent)
      return {
        body: sent,
        ...(sentParts && { parts: sentParts }),
        sent: slice,
        elements: slice.map(element => prepareElement(element, context)),
      }
    },
    request: ({ body, parts, elements }, mode) => ({
      ...request,
      // Rows that were encoded in advance are those of the whole body, and code may change them.
      encoded: undefined,
      trusted,
      mode,
      body,
      parts,
      hooked: elements.map(({ hooked }) => hooked),
    }),
  }
  const take = (done: readonly SavedSlice[]): void => {
    globalStamp = done.at(-1)!.result.globalStamp
    const saved = done.flatMap(({ result }) => result.entities)
    const sent = done.flatMap(({ slice }) => slice.sent)
    // If an atomic request fails, none of its entities has been saved.
    const common = atomic ? saved.find(({ failure }) => failure)?.failure : undefined
    for (const [i, { entity }] of done.flatMap(({ slice }) => slice.elements).entries()) {
      const outcome = saved[i]!
      const { failure = common, rowId, row } = outcome
      if (outcome.failure) {
        sentKeys.set(entities.length, (sent[i] as { __KEY?: unknown } | null)?.__KEY)
        entities.push({ ...outcome, failure: digest.add(outcome.failure) })
      } else entities.push(outcome)
      if (!entity) continue
      if (!outcome.failure) fine.set(entities.length - 1, entity)
      if (mode !== 'update') continue
      if (!failure) internals.saved(entity, rowId!, row!)
      hooks.afterSave(entity, failure)
    }
  }
  const finish = (): Answer => {
    if (hooks.classes.restrict(binding.dataClass)) hideUnseen(entities, sentKeys, binding)
    // New values are shown and not kept. Source: protocol notes, 5.5 and 5.7.
    const isPreview = mode === 'refresh' || (atomic && entities.some(({ failure }) => failure))
    const { many } = body
    const previews = isPreview ? [...fine].flatMap(([index, entity]) => previewOf(entity, entities[index]!, index)) : []
    return hooks.showing(binding, previews, () => answer({ kind: 'save', many, entities, globalStamp }))
  }
  const slices = sliced(body, isOneTransaction(request) ? Number.POSITIVE_INFINITY : SLICE, mode !== 'update')
  if (atomic) {
    const all = [...slices]
    take(all.length > 1 ? saveTogether(all, writing) : [saveSlice(all[0]!, mode, writing)])
    return finish()
  }
  const first = slices.next().value!
  const second = slices.next()
  // A database is asked by a thread that waits.
  if (second.done && mode === 'update' && !binding.dataClass.remote) {
    const slice = writing.prepare(first)
    return {
      write: language.saveRequest(writing.request(slice, mode)),
      complete(result) {
        take([{ slice, result }])
        return finish()
      },
    }
  }
  take([saveSlice(first, mode, writing)])
  if (!second.done) take([saveSlice(second.value, mode, writing)])
  for (const elements of slices) take([saveSlice(elements, mode, writing)])
  return finish()
}

const previewOf = (entity: EntityBase, { row, rowId }: SavedEntity, index: number): readonly Preview[] =>
  row ? [{ entity, row, rowId: rowId ?? unsavedId(index) }] : []

/**
 * Shows entities that were not saved as the caller sees them now: the writer does not apply restrict events, and an entity may
 * have become hidden since its element was looked up. It then answers as a missing one.
 */
function hideUnseen(
  entities: SavedEntity[],
  sentKeys: ReadonlyMap<number, unknown>,
  { dataClass, language }: Binding,
): void {
  for (const [i, sentKey] of sentKeys) {
    const { rowId, failure } = entities[i]!
    if (rowId === undefined) continue
    const seen = language.snapshot.table(dataClass).row(rowId)?.copy()
    entities[i] = seen ? { row: seen.bytes, rowId, failure: failure! } : { failure: notFound(sentKey, dataClass) }
  }
}

/** Elements that are sent to the writer together. */
interface Slice {
  readonly body: Uint8Array
  readonly parts?: BodyParts
  readonly sent: readonly unknown[]
  readonly elements: readonly Prepared[]
}

interface SavedSlice {
  readonly slice: Slice
  readonly result: SaveResult
}

interface Writing {
  readonly language: Language
  /** Runs the code before a save. */
  prepare(elements: readonly unknown[]): Slice
  request(slice: Slice, mode: SaveRequest['mode']): Omit<SaveRequest, 'kind'>
}

function saveSlice(elements: readonly unknown[], mode: SaveRequest['mode'], writing: Writing): SavedSlice {
  const slice = writing.prepare(elements)
  return { slice, result: writing.language.save(writing.request(slice, mode)) }
}

/** Saves all of several slices or nothing; each slice sees the writes of the earlier ones. */
function saveTogether(slices: readonly (readonly unknown[])[], writing: Writing): SavedSlice[] {
  const { language } = writing
  const save = (slice: Slice, mode: SaveRequest['mode']) => language.save(writing.request(slice, mode))
  const saved: SavedSlice[] = []
  const isKept = language.transaction(() => {
    for (const elements of slices) saved.push(saveSlice(elements, 'update', writing))
    return !saved.some(({ result }) => result.entities.some(({ failure }) => failure))
  })
  if (isKept) return saved
  // Entities that did not fail themselves are shown with their new values and the old stamp (protocol notes, 5.5).
  const shown: SavedSlice[] = []
  language.transaction(() => {
    for (const { slice, result } of saved) {
      const { entities, ...rest } = save(slice, 'refresh')
      // A failure remains, even if its reason has gone meanwhile.
      const told = entities.map((entity, i) => (result.entities[i]!.failure ? result.entities[i]! : entity))
      shown.push({ slice, result: { ...rest, entities: told } })
      save(slice, 'update')
    }
    return false
  })
  return shown
}

/**
 * Slices of a body. A repeated entity starts a new slice, so that its code sees the first save.
 * @param size maximum number of elements in a slice
 * @param isOne nothing is kept, so repeated entities do not start a new slice
 */
function* sliced(body: SaveBody, size: number, isOne: boolean): Generator<unknown[]> {
  let slice: unknown[] = []
  let keys = new Set<string>()
  for (let i = 0; i < body.length; i++) {
    const element = body.element(i)
    const sent = isJsonObject(element) ? own(element, '__KEY') : undefined
    // An object is not a key, and converting one to text can recurse deeply.
    const key = isOne || sent === undefined || typeof sent === 'object' ? undefined : String(sent)
    if (slice.length === size || (key !== undefined && keys.has(key))) {
      yield slice
      slice = []
      keys = new Set()
    }
    if (key !== undefined) keys.add(key)
    slice.push(element)
  }
  yield slice
}
