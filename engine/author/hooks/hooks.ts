import { randomUUID } from 'node:crypto'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { BINDING, type Binding } from '../data-api/binding.ts'
import type { EntityBase } from '../data-api/entity.ts'
import { internals } from '../data-api/entity-internals.ts'
import type { EntityHooks } from '../data-api/entity-hooks.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { toJson } from '../data-api/values.ts'
import { nullValues } from '../../catalog/calculated.ts'
import type { NewJob } from '../../jobs/job.ts'
import { isUnsaved } from '../../query/serialise/row-writer.ts'
import type { DeleteResult, SaveFailure } from '../../write/contract/requests.ts'
import { notSaved } from '../../write/contract/save-failure.ts'
import { computedValue } from './computed-value.ts'
import { type DropRequest, dropWithEvents } from './drop.ts'
import { DropContext } from './drop-context.ts'
import { busyFailure, eventFailure } from './hook-errors.ts'
import type { HookedClasses } from './hooked-classes.ts'
import { Restrictions } from './restrict.ts'

/** A save in progress. */
interface Saving {
  /** Names of the attributes that it changes. */
  attributes: readonly string[]
  /** Jobs that its events have enqueued. */
  readonly jobs: NewJob[]
}

/** An entity that is shown with its unsaved values. */
export interface Preview {
  readonly entity: EntityBase
  /** Its row id in the answer. */
  readonly rowId: number
  /** Its row as it would be stored. */
  readonly row: Uint8Array
}

/**
 * Runs the code of events around saves, and computes stored calculated attributes.
 *
 *   assigned: touched (attribute, entity) → save: validateSave (attributes, entity) → saving (attributes, entity)
 *   → stored calculated attributes → written → afterSave
 *
 * Source: protocol notes, 3.8 and 9.
 */
export class Hooks implements EntityHooks {
  readonly findVisible: EntityHooks['findVisible']
  /** Weak: the end is never reported for saves that only validate, or whose code throws. */
  private readonly saving = new WeakMap<EntityBase, Saving>()
  /** Entities whose own events tried to save them: the end of that attempt is not the end of the save. */
  private readonly refusedEntities = new WeakSet<EntityBase>()
  /** Dataclasses whose events before a save have written, or have read other entities of the same dataclass. */
  private readonly writing = new Set<DataClass>()
  private readonly readingOwn = new Set<DataClass>()
  private readonly drops: DropContext
  private readonly touching = new WeakMap<EntityBase, Set<StorageAttribute>>()

  /** Entities that are shown with their unsaved values, by row id. */
  private shownEntities: { readonly dataClass: DataClass; readonly byRow: ReadonlyMap<number, EntityBase> } | undefined

  /** @param onFault called with faults that can no longer be reported to the client, for the log */
  constructor(
    readonly classes: HookedClasses,
    readonly onFault: (error: unknown) => void,
  ) {
    this.drops = new DropContext(classes, onFault, entity => this.calculated(entity))
    const restrictions = new Restrictions(classes)
    if (classes.restricted.size > 0) this.findVisible = restrictions.visible.bind(restrictions)
  }

  /** Runs the constructor event of a new entity in memory. */
  constructed(entity: EntityBase): void {
    const { dataClass } = entity[BINDING]
    this.classes.events(dataClass)?.run('constructor', entity, [])
  }

  touched(entity: EntityBase, attribute: StorageAttribute): void {
    const { dataClass } = entity[BINDING]
    const events = this.classes.events(dataClass)
    if (!events?.has('touched')) return
    const attributes = this.touching.get(entity) ?? new Set()
    // The event's own code assigns the attribute again.
    if (attributes.has(attribute)) return
    this.touching.set(entity, attributes.add(attribute))
    try {
      events.run('touched', entity, [attribute.name], { attributeName: attribute.name })
    } finally {
      attributes.delete(attribute)
    }
  }

  runsBeforeSave(dataClass: DataClass): boolean {
    return this.classes.onSave(dataClass)
  }

  needsTransaction(dataClass: DataClass, entities: number): boolean {
    return this.writing.has(dataClass) || (entities > 1 && this.readingOwn.has(dataClass))
  }

  noteTransaction(dataClass: DataClass, always: boolean): void {
    if (always) this.writing.add(dataClass)
    else this.readingOwn.add(dataClass)
  }

  /**
   * @param view view of the client that saves the entity; attributes hidden in it are not named
   * @returns the reason why the entity must not be saved
   */
  beforeSave(entity: EntityBase, view?: View): SaveFailure | undefined {
    const { dataClass } = entity[BINDING]
    if (!this.classes.onSave(dataClass) || !(entity.isNew() || entity.touched())) return undefined
    const chain = entity[BINDING].codeSession.writes.eventRun?.chainTo(entity)
    if (this.saving.has(entity) || chain) {
      this.refusedEntities.add(entity)
      return busyFailure('save', dataClass.name, chain)
    }
    if (entity.isNew()) fillAutomatic(entity)
    const saving: Saving = { attributes: entity.touchedAttributes(), jobs: [] }
    this.saving.set(entity, saving)
    const events = this.classes.events(dataClass)
    for (const kind of ['validateSave', 'saving'] as const) {
      const run = () => events?.run(kind, entity, saving.attributes)
      const refusal = entity[BINDING].codeSession.writes.collecting({ entity, jobs: saving.jobs }, run)
      if (refusal) {
        const attributeName = refusal.error.attribute ?? refusal.attribute
        const attribute =
          typeof attributeName === 'string' ? view?.attribute(dataClass, attributeName)?.name : undefined
        const consequence = notSaved(entity[BINDING].dataClass, entity.isNew() ? null : entity.getKey())
        return eventFailure(refusal.error, kind === 'validateSave', consequence, attribute)
      }
      // Code may have assigned further attributes.
      saving.attributes = entity.touchedAttributes()
    }
    if (entity.isNew()) fillUuids(entity, dataClass)
    this.calculate(entity)
    return undefined
  }

  jobsOf(entity: EntityBase): readonly NewJob[] | undefined {
    const { jobs = [] } = this.saving.get(entity) ?? {}
    return jobs.length > 0 ? jobs : undefined
  }

  afterSave(entity: EntityBase, failure: SaveFailure | undefined): void {
    if (this.refusedEntities.delete(entity)) return
    const saving = this.saving.get(entity)
    if (!saving) return
    const details = {
      savedAttributes: saving.attributes,
      saveStatus: failure ? 'failed' : 'success',
      ...(failure && { status: failure.status.status, statusText: failure.status.statusText }),
    }
    try {
      this.classes.events(entity[BINDING].dataClass)?.run('afterSave', entity, [], details)
    } catch (error) {
      // The outcome of the save is decided already.
      this.onFault(error)
    } finally {
      this.saving.delete(entity)
    }
  }

  interrupted(entity: EntityBase): void {
    this.saving.delete(entity)
  }

  /** Runs `work`, in which calculated attributes of these entities of one dataclass are computed from their values in memory. */
  showing<T>({ codeSession, dataClass }: Binding, previews: readonly Preview[], work: () => T): T {
    if (previews.length === 0) return work()
    for (const { entity, row } of previews) internals.show(entity, row)
    this.shownEntities = { dataClass, byRow: new Map(previews.map(({ rowId, entity }) => [rowId, entity])) }
    // Invalidates values that were computed from the stored entities.
    codeSession.snapshots.version++
    try {
      return work()
    } finally {
      this.shownEntities = undefined
      codeSession.snapshots.version++
      for (const { entity } of previews) internals.show(entity, undefined)
    }
  }

  /** Entity from which calculated attributes are computed; undefined for an unsaved one that is not shown. */
  entityOf(binding: Binding, rowId: number): EntityBase | undefined {
    const shownEntity =
      this.shownEntities?.dataClass === binding.dataClass ? this.shownEntities.byRow.get(rowId) : undefined
    return shownEntity ?? (isUnsaved(rowId) ? undefined : binding.entity(rowId))
  }

  drop(request: DropRequest, codeSession: CodeSession, send: (request: DropRequest) => DeleteResult): DeleteResult {
    return dropWithEvents(request, codeSession, this.drops, send)
  }

  /** Current values of the stored calculated attributes of an entity, as JSON. */
  calculated(entity: EntityBase): Record<string, unknown> {
    const storedAttributes = this.classes.storedAttributes(entity[BINDING].dataClass)
    return Object.fromEntries(storedAttributes.map(each => [each.name, toJson(each, computedValue(entity, each))]))
  }

  /** {@link calculated} for stored entities; null values if the code fails. */
  calculatedOrNull(entity: EntityBase): Record<string, unknown> {
    try {
      return this.calculated(entity)
    } catch (error) {
      this.onFault(error)
      return nullValues(entity[BINDING].dataClass)
    }
  }

  private calculate(entity: EntityBase): void {
    for (const attribute of this.classes.storedAttributes(entity[BINDING].dataClass)) {
      internals.put(entity, attribute, computedValue(entity, attribute))
    }
  }
}

/** Shows the time and the user of the save to its events, and to the code of stored calculated attributes. */
function fillAutomatic(entity: EntityBase): void {
  const { newRows, codeSession } = entity[BINDING]
  if (newRows.areAutomatic)
    internals.fill(entity, newRows.automatic({ moment: codeSession.writes.moment!, user: codeSession.scope.userName }))
}

/** Fills UUIDs before the write, so that plugin code can use them. */
function fillUuids(entity: EntityBase, { attributes }: DataClass): void {
  for (const attribute of attributes) {
    if (attribute.kind !== 'storage' || attribute.autoFill !== 'uuid') continue
    if ((internals.assigned(entity, attribute) ?? null) !== null) continue
    internals.put(entity, attribute, randomUUID().replaceAll('-', '').toUpperCase())
  }
}
