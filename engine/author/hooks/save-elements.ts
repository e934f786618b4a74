import type { DataClass } from '../../catalog/dataclass.ts'
import { stringifyExact } from '../../base/exact-json.ts'
import type { Binding } from '../data-api/binding.ts'
import type { EntityBase } from '../data-api/entity.ts'
import { internals } from '../data-api/entity-internals.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { partsOf } from '../../write/body/body-outline.ts'
import { unsavedId } from '../../query/serialise/row-writer.ts'
import { DATABASE_RUNS, EventRun, SHARED_RUNS } from '../data-api/event-run.ts'
import { FailureDigest } from '../../write/entity/failure-digest.ts'
import { openBody, type SaveBody } from '../../write/body/parse-body.ts'
import { isJsonObject, ownMember } from '../../base/json-object.ts'
import type { SavedEntity, SaveRequest, SaveResult } from '../../write/contract/requests.ts'
import { changedFailure, notFound } from '../../write/contract/save-failure.ts'
import {
  bodyLimits,
  checkTransactionSize,
  isOneTransaction,
  type SaveLimits,
  TRUSTED_BODY,
} from '../../write/contract/write-limits.ts'
import type { Hooks, Preview } from './hooks.ts'
import { NOTHING_SEEN, type Prepared, type PrepareContext, prepareElement } from './prepare-element.ts'

/** A save that takes one request to the writer. */
interface OneWrite<Answer> {
  readonly write: SaveRequest
  /** Continues when the writer has answered. */
  complete(result: SaveResult): Answer
}

/** Number of entities in one request to the writer, so that other requests can interleave. */
const SLICE = 500

/** Maximum time for which the saves of one transaction may hold up those of others, unless all saves have to be in one transaction. */
const TRANSACTION_MS = 90

/** An element whose save is decided. */
interface Decided extends Prepared {
  readonly sent: unknown
  readonly saved: SavedEntity
}

/**
 * Saves the body of a client with the plugin code of its dataclass. The writer receives each element as it was sent, so that it reports
 * invalid ones as usual, together with the result of the code for it.
 *
 * The code of many elements runs before their save, concurrently with other saves, and the writer checks whether what the code has read has
 * changed. If it has changed each time, if events write, or if they read other elements of the same body, each element is prepared and
 * saved in turn in a transaction, during which no other client writes.
 * @param answer makes the answer; in it, calculated attributes of unsaved entities are computed from their new values
 * @returns the answer; for most saves, first the data to be written, so that the thread can run other tasks meanwhile
 * @throws errors of the body as a whole; what code throws Source: base specification 4.4; protocol notes 5 and 9.
 */
export function saveElements<Answer>(
  request: SaveRequest,
  limits: SaveLimits,
  codeSession: CodeSession,
  hooks: Hooks,
  answer: (saveResult: SaveResult) => Answer,
): Answer | OneWrite<Answer> {
  const binding = codeSession.binding(request.dataClass)
  const { mode, atomic, trusted = false } = request
  const body = openBody(request, binding.dataClass, trusted ? TRUSTED_BODY : bodyLimits(request, limits))
  checkTransactionSize(request, body.length, limits)
  const context = { trusted, view: codeSession.views.of(request.access, trusted ? 'code' : 'client'), binding, hooks }
  const entities: SavedEntity[] = []
  /** `__KEY` as it was sent, for entities that were not saved. */
  const sentKeys = new Map<number, unknown>()
  /** Entities that have not failed, by their index. */
  const fine = new Map<number, EntityBase>()
  const digest = new FailureDigest(trusted ? Number.POSITIVE_INFINITY : limits.maxDescribed)
  const saving = new Saving(request, body.length, codeSession, context)
  const take = (decisions: readonly Decided[]): void => {
    // If an atomic request fails, none of its entities has been saved.
    const common = atomic ? decisions.find(({ saved }) => saved.failure)?.saved.failure : undefined
    for (const { sent, saved, entity } of decisions) {
      const { failure = common, rowId, row } = saved
      if (saved.failure) {
        sentKeys.set(entities.length, (sent as { __KEY?: unknown } | null)?.__KEY)
        entities.push({ ...saved, failure: digest.add(saved.failure) })
      } else entities.push(saved)
      if (!entity) continue
      if (!saved.failure) fine.set(entities.length - 1, entity)
      if (mode !== 'update') continue
      if (!failure) internals.afterSave(entity, rowId!, row!)
      codeSession.scope.asEvent(() => hooks.afterSave(entity, failure))
    }
  }
  const finish = (): Answer => {
    if (hooks.classes.restrict(binding.dataClass)) hideUnseen(entities, sentKeys, binding)
    // A preview shows new values without keeping them. Source: protocol notes, 5.5 and 5.7.
    const isPreview = mode === 'refresh' || (atomic && entities.some(({ failure }) => failure))
    const { many } = body
    const previews = isPreview ? [...fine].flatMap(([index, entity]) => previewOf(entity, entities[index]!, index)) : []
    const { globalStamp } = saving
    return hooks.showing(binding, previews, () => answer({ kind: 'save', many, entities, globalStamp }))
  }
  const slices = sliced(body, isOneTransaction(request) ? Number.POSITIVE_INFINITY : SLICE, mode !== 'update')
  if (atomic) {
    const all = [...slices]
    take(all.length > 1 ? saving.alone(all.flat()) : saving.slice(all[0]!))
    return finish()
  }
  const first = slices.next().value!
  const second = slices.next()
  const mayGoOn = second.done && mode === 'update' && codeSession.writes.changesOf(binding.dataClass).mayGoOn
  const preparedSlice = mayGoOn ? saving.prepare(first) : undefined
  if (preparedSlice) {
    return {
      write: codeSession.writes.saveRequest(preparedSlice.request),
      complete(result) {
        take(saving.slice(first, saving.decided(preparedSlice, result)))
        return finish()
      },
    }
  }
  take(saving.slice(first))
  if (!second.done) take(saving.slice(second.value))
  for (const elements of slices) take(saving.slice(elements))
  return finish()
}

/** Elements that are sent to the writer together. */
interface Slice {
  readonly request: Omit<SaveRequest, 'kind'>
  readonly sentElements: readonly unknown[]
  readonly elements: readonly Prepared[]
}

/** The save of a body, element by element or many at once. */
class Saving {
  /** Global stamp after the last write. */
  globalStamp = 0
  /** Time of automatic values, the same for all elements. */
  private readonly moment: number

  constructor(
    private readonly request: SaveRequest,
    /** Number of elements of the body. */
    private readonly length: number,
    private readonly codeSession: CodeSession,
    private readonly context: PrepareContext,
  ) {
    this.moment = request.moment ?? codeSession.now()
  }

  /**
   * Saves elements, concurrently with other saves where possible.
   * @param first outcomes of a first attempt; undefined for elements whose code has to run again
   */
  slice(elements: readonly unknown[], first?: readonly (Decided | undefined)[]): Decided[] {
    const decisions: (Decided | undefined)[] = first ? [...first] : elements.map(() => undefined)
    const isOpen = (_: unknown, i: number): boolean => decisions[i] === undefined
    let runs = first ? 1 : 0
    for (; runs < SHARED_RUNS; runs++) {
      const open = elements.filter(isOpen)
      const now = open.length > 0 ? this.saveShared(open) : undefined
      if (!now) break
      for (let i = 0, next = 0; i < decisions.length; i++) decisions[i] ??= now[next++]
    }
    const aloneDecisions = this.alone(elements.filter(isOpen), runs)
    return decisions.map(each => each ?? aloneDecisions.shift()!)
  }

  /** @returns outcomes, with undefined for elements whose code has to run again; only undefined if the elements need a transaction */
  private saveShared(elements: readonly unknown[]): (Decided | undefined)[] | undefined {
    const { codeSession, context, request } = this
    const { dataClass } = context.binding
    const save = (): (Decided | undefined)[] | undefined => {
      const slice = this.prepare(elements)
      return slice && this.decided(slice, codeSession.writes.save(slice.request))
    }
    const isKept = (now: (Decided | undefined)[] = []): boolean =>
      request.mode === 'update' && now.some(each => each && !each.saved.failure)
    const run = codeSession.writes.changesOf(dataClass).beside(dataClass, request.atomic, save, isKept)
    return run ? run.result : elements.map(() => undefined)
  }

  /** Runs the code of elements. @returns undefined: it needs a transaction */
  prepare(elements: readonly unknown[]): Slice | undefined {
    const { codeSession, context } = this
    const { dataClass } = context.binding
    const { hooks } = context
    if (codeSession.writes.isInTransaction || hooks.needsTransaction(dataClass, elements.length)) return undefined
    const run = this.newRun()
    const preparedElements: Prepared[] = []
    for (const element of elements) {
      const each = prepareElement(element, context, run)
      const { entity } = each
      preparedElements.push(each)
      const mayHaveReadEarlier = elements.length > 1 && codeSession.writes.changesOf(dataClass).hasBegun
      if (!(run.needsTransaction || mayHaveReadEarlier || (entity && run.hasReadEarlier(entity)))) continue
      hooks.noteTransaction(dataClass, run.needsTransaction)
      for (const { entity } of preparedElements) if (entity) hooks.interrupted(entity)
      return undefined
    }
    return this.sliceOf(elements, preparedElements, this.request.mode, run)
  }

  /** Outcomes of a slice; undefined for elements whose code has to run again. */
  decided({ sentElements, elements }: Slice, { entities, globalStamp }: SaveResult): (Decided | undefined)[] {
    const { hooks } = this.context
    this.globalStamp = globalStamp
    // In an atomic request, the outcomes of all elements are decided together.
    const isOpen = isOneTransaction(this.request) && entities.some(({ isOutdated }) => isOutdated)
    return entities.map((savedEntity, i) => {
      const { entity } = elements[i]!
      if (!isOpen && !savedEntity.isOutdated) return { sent: sentElements[i], saved: savedEntity, ...elements[i]! }
      if (entity) hooks.interrupted(entity)
      return undefined
    })
  }

  /**
   * Runs the code of each element and saves it, in turn, in a transaction in which no other client writes.
   * @param runs number of earlier runs
   */
  alone(elements: readonly unknown[], runs = 0): Decided[] {
    const { codeSession } = this
    const { dataClass } = this.context.binding
    const isOne = isOneTransaction(this.request)
    const decisions: Decided[] = []
    while (decisions.length < elements.length) {
      const later: (() => void)[] = []
      const outcomes: { preview: Decided; decision: Decided }[] = []
      const work = (): boolean => {
        later.length = 0
        outcomes.length = 0
        const endsAt = isOne ? Number.POSITIVE_INFINITY : performance.now() + TRANSACTION_MS
        do outcomes.push(this.saveAlone(elements[decisions.length + outcomes.length], later))
        while (decisions.length + outcomes.length < elements.length && performance.now() < endsAt)
        return (
          this.request.mode === 'update' &&
          !(this.request.atomic && outcomes.some(({ decision }) => decision.saved.failure !== undefined))
        )
      }
      const isKept = codeSession.writes.changesOf(dataClass).alone(dataClass, isOne, runs, work, this.moment)
      if (isKept === undefined) {
        decisions.push(...elements.slice(decisions.length).map(element => changedMeanwhile(element, dataClass)))
        continue
      }
      for (const { preview, decision } of outcomes) decisions.push(isKept ? decision : preview)
      if (isKept) for (const each of later) each()
    }
    return decisions
  }

  /** @param later receives the work to do after the commit */
  private saveAlone(element: unknown, later: (() => void)[]): { preview: Decided; decision: Decided } {
    const { codeSession, context } = this
    const { mode, atomic } = this.request
    const run = this.newRun()
    let isKept = false
    try {
      const preparedElement = prepareElement(element, context, run)
      const save = (as: SaveRequest['mode']): Decided => {
        const { entities, globalStamp } = codeSession.writes.save(
          this.sliceOf([element], [preparedElement], as).request,
        )
        this.globalStamp = globalStamp
        return { sent: element, saved: entities[0]!, ...preparedElement }
      }
      // Entities that are not kept are shown with their new values and the old stamp. Source: protocol notes, 5.5.
      const preview = mode !== 'update' || atomic ? save(mode === 'update' ? 'refresh' : mode) : undefined
      const decision = preview?.saved.failure ? preview : save('update')
      isKept = decision.saved.failure === undefined
      return { preview: isKept && preview ? preview : decision, decision }
    } finally {
      codeSession.writes.endRun(run, isKept)
      if (isKept) later.push(...run.later)
    }
  }

  private newRun(): EventRun {
    const run = new EventRun(this.context.binding.dataClass)
    run.moment = this.moment
    return run
  }

  private sliceOf(
    sentElements: readonly unknown[],
    elements: readonly Prepared[],
    mode: SaveRequest['mode'],
    run?: EventRun,
  ): Slice {
    const { request } = this
    const isAll = sentElements.length === this.length
    const body = isAll ? request.body : Buffer.from(stringifyExact(sentElements))
    const parts = isAll ? (request.parts ?? partsOf(body)) : partsOf(body)
    return {
      sentElements,
      elements,
      request: {
        ...request,
        // Rows encoded in advance belong to the whole body, and code may change their values.
        encoded: undefined,
        trusted: request.trusted ?? false,
        mode,
        body,
        parts,
        hooked: elements.map(({ hooked }) => hooked),
        reads: run?.recorded?.reads,
        moment: this.moment,
      },
    }
  }
}

/** Outcome of an element of a database that others have changed in every attempt. */
const changedMeanwhile = (element: unknown, dataClass: DataClass): Decided => {
  const key = (isJsonObject(element) ? ownMember(element, '__KEY') : undefined) ?? null
  return { sent: element, hooked: NOTHING_SEEN, saved: { failure: changedFailure(dataClass, DATABASE_RUNS, key) } }
}

const previewOf = (entity: EntityBase, { row, rowId }: SavedEntity, index: number): readonly Preview[] =>
  row ? [{ entity, row, rowId: rowId ?? unsavedId(index) }] : []

/**
 * Shows entities that were not saved as the caller sees them now: the writer does not apply restrict events, and an entity may have become
 * hidden since its element was looked up. A hidden entity is answered like a missing one.
 */
function hideUnseen(
  entities: SavedEntity[],
  sentKeys: ReadonlyMap<number, unknown>,
  { dataClass, codeSession }: Binding,
): void {
  for (const [i, sentKey] of sentKeys) {
    const { rowId, failure } = entities[i]!
    if (rowId === undefined) continue
    const currentRow = codeSession.snapshots.current.table(dataClass).row(rowId)?.copy()
    entities[i] = currentRow
      ? { row: currentRow.bytes, rowId, failure: failure! }
      : { failure: notFound(sentKey, dataClass) }
  }
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
    const sentKey = isJsonObject(element) ? ownMember(element, '__KEY') : undefined
    // An object is not a key, and converting one to text can recurse deeply.
    const key = isOne || sentKey === undefined || typeof sentKey === 'object' ? undefined : String(sentKey)
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
