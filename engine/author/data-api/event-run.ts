import type { DataClass } from '../../catalog/dataclass.ts'
import type { RelatedEntityAttribute } from '../../catalog/attribute.ts'
import type { RecordedSnapshot } from '../../data/recorded-snapshot.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { describe } from '../../write/contract/write-errors.ts'
import { BINDING } from './binding.ts'
import type { EntityBase } from './entity.ts'
import { internals } from './entity-internals.ts'

/**
 * Thrown when events write outside of a transaction: they have to run again in one. Code may catch it, so
 * {@link EventRun.needsTransaction} decides.
 */
export class NeedsTransaction extends Error {
  override readonly name = 'NeedsTransaction'

  constructor() {
    super('the events of this save or deletion write, so they run again in a transaction')
  }
}

/**
 * Maximum number of times that events run concurrently with those of other saves. If what they have read has changed each time, they run in
 * a transaction. It holds up all other writes for as long as the code takes, but more runs without it would refuse clients under load.
 */
export const SHARED_RUNS = 2
/**
 * Maximum number of times that events of entities of a database run. After {@link SHARED_RUNS}, other writes of this server wait; writes of
 * other servers may still collide.
 */
export const DATABASE_RUNS = 5

/** Maximum number of entities whose events save or drop one another. Each may need a nested transaction. */
const LONGEST_CHAIN = 6

/** A related entity, or null, and the version of the code session for which it matches the store. */
interface Related {
  readonly entity: EntityBase | null
  version: number
}

/** One run of the events before saves or a deletion, from the first event to the last. */
export class EventRun {
  /** Reads of the events. Undefined before the first one, and in a transaction, where no other client writes. */
  recorded: RecordedSnapshot | undefined
  /** Separate snapshot for events of a database: rows that were read before them may be outdated. */
  ownSnapshot: Snapshot | undefined
  needsTransaction = false
  /** Time of automatic values of its entities, once one has been asked for. */
  moment: number | undefined
  /** Start of the writes of the events in the transaction; undefined if they have written nothing. */
  mark: number | undefined
  /** Work to do when the transaction has been committed. */
  readonly later: (() => void)[] = []
  /** Rows of the entities whose events have run. */
  private readonly earlier = new Set<number>()
  private isFirst = true
  private readonly relatedEntities = new Map<EntityBase, Map<RelatedEntityAttribute, Related>>()
  private readonly replacements: (readonly [before: EntityBase, related: EntityBase])[] = []
  private readonly savedEntities = new Set<EntityBase>()

  /** The entity whose events run now. */
  entity: EntityBase | undefined

  /**
   * @param dataClass of the entities. Events of entities of a database may not write
   * @param outer run in which an event saves or deletes the entity
   */
  constructor(
    readonly dataClass: DataClass,
    readonly outer?: EventRun,
  ) {}

  /**
   * The chain of saves and deletions that leads to an entity, if the entity is already in it or the chain is too long.
   * @returns undefined if the entity may be saved or dropped
   */
  chainTo(entity: EntityBase): string | undefined {
    const chain: EntityBase[] = []
    for (let run = this.outer; run; run = run.outer) if (run.entity) chain.unshift(run.entity)
    const isIn = chain.some(other => isSame(other, entity))
    return isIn || chain.length >= LONGEST_CHAIN ? [...chain, entity].map(nameOf).join(' → ') : undefined
  }

  /**
   * To be called when the events before the save of an entity have run.
   * @returns true if they have read entities whose events ran earlier and which are not saved yet
   */
  hasReadEarlier(entity: EntityBase): boolean {
    const { dataClass } = entity[BINDING]
    const rowId = internals.rowId(entity)
    // The stamp of the entity itself is compared anyway.
    if (rowId !== undefined) this.recorded?.forgetRow(dataClass, rowId)
    const hasRead = this.isFirst ? false : (this.recorded?.hasRead(dataClass, this.earlier) ?? false)
    if (rowId !== undefined) this.earlier.add(rowId)
    this.isFirst = false
    return hasRead
  }

  /**
   * Current state of a related entity, even if the events have changed it through other objects; with its unsaved values, if it has any.
   * @param before the object that the entity had before, which may have been read long ago
   */
  relatedOf(
    entity: EntityBase,
    relation: RelatedEntityAttribute,
    before: EntityBase | null | undefined,
    find: () => EntityBase | null,
  ): EntityBase | null {
    const ofEntity = this.relatedEntities.get(entity) ?? new Map<RelatedEntityAttribute, Related>()
    this.relatedEntities.set(entity, ofEntity)
    const { version } = entity[BINDING].codeSession.snapshots
    const entry = ofEntity.get(relation)
    if (entry && (entry.version === version || isCurrent(entry.entity))) {
      entry.version = version
      return entry.entity
    }
    const foundEntity = find()
    ofEntity.set(relation, { entity: foundEntity, version })
    if (before && foundEntity) this.replacements.push([before, foundEntity])
    return foundEntity
  }

  /** Forgets a related entity: its key has changed. */
  forget(entity: EntityBase, relation: RelatedEntityAttribute): void {
    this.relatedEntities.get(entity)?.delete(relation)
  }

  hasSaved(entity: EntityBase): void {
    this.savedEntities.add(entity)
  }

  /** Pairs of the object that an entity had before and the object that the events have read in its place and saved. */
  get savedReplacements(): readonly (readonly [before: EntityBase, saved: EntityBase])[] {
    return this.replacements.filter(([, replacement]) => this.savedEntities.has(replacement))
  }
}

/** True if an entity has unsaved values or matches the store. */
function isCurrent(entity: EntityBase | null): boolean {
  const rowId = entity ? internals.rowId(entity) : undefined
  if (!entity || rowId === undefined) return false
  const { codeSession, dataClass } = entity[BINDING]
  if (!codeSession.writes.changesOf(dataClass).mayEventsWrite || internals.changes(entity).size > 0) return true
  const storedRow = codeSession.snapshots.unrestricted.table(dataClass).row(rowId)
  return storedRow !== undefined && storedRow.stamp === internals.row(entity)!.stamp
}

const isSame = (a: EntityBase, b: EntityBase): boolean =>
  a === b || (a[BINDING] === b[BINDING] && !a.isNew() && internals.rowId(a) === internals.rowId(b))

function nameOf(entity: EntityBase): string {
  const { name } = entity[BINDING].dataClass
  return entity.isNew() ? `a new ${name}` : `${name} ${describe(entity.getKey())}`
}
