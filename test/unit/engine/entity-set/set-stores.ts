/** Stores of entity sets over one environment, with a clock that a test moves. */
import type { Test } from 'tap'
import { type EntitySet, entitySet, newEntitySetId } from '../../../../engine/entity-set/entity-set.ts'
import { EntitySetStore, type EntitySetStoreOptions } from '../../../../engine/entity-set/entity-set-store.ts'
import type { EntitySetChange } from '../../../../engine/entity-set/entity-set-header.ts'
import { encodeMembers, type Members, type RowMembers } from '../../../../engine/entity-set/members.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import { type Environment, openEnvironment } from '../../../../engine/storage/environment.ts'
import { LmdbRecords } from '../../../../engine/storage/lmdb-records.ts'

/** A store whose writer is this thread. Sets are durable when `write` resolves; `hold` delays it, and `fails` makes it throw. */
export class Fixture {
  readonly environment: Environment
  readonly records: LmdbRecords
  readonly changes: EntitySetChange[] = []
  ms = 1_000_000
  fails = false
  private held: Promise<void> = Promise.resolve()

  constructor(private readonly t: Test) {
    this.environment = openEnvironment({ path: t.testdir({}), mapSizeBytes: 2 ** 28 })
    this.records = new LmdbRecords(this.environment)
    t.teardown(() => this.environment.close())
  }

  open(options: Partial<EntitySetStoreOptions> = {}): EntitySetStore {
    const store = new EntitySetStore({
      store: this.records,
      write: async changes => {
        await this.held
        if (this.fails) throw new Error('no room')
        this.changes.push(...changes)
        this.environment.root.transactionSync(() => {
          for (const change of changes) this.records.sets.put(change)
        })
      },
      memoryBytes: 2 ** 20,
      guests: { guestBytesPerAddress: 2 ** 27, maxGuestBytes: 2 ** 30 },
      savedLifetimeSeconds: 1000,
      now: () => this.ms,
      ...options,
    })
    this.t.teardown(() => store.close().catch(() => {}))
    return store
  }

  /** @returns a function that resumes the writes */
  hold(): () => void {
    let release!: () => void
    this.held = new Promise(resolve => {
      release = resolve
    })
    return release
  }

  pass(seconds: number): void {
    this.ms += seconds * 1000
  }

  get entries(): number {
    return (this.environment.entitySets.getStats() as { entryCount: number }).entryCount
  }
}

export const make = (members: Members, more: Partial<EntitySet> = {}): EntitySet =>
  entitySet({
    id: newEntitySetId(),
    tableNumber: 1,
    memberBytes: encodeMembers(members),
    timeoutSeconds: 100,
    saved: undefined,
    creator: undefined,
    ...more,
  })

export const ids = (set: EntitySet | undefined): number[] | undefined => set && [...(set.members as RowMembers)]
export const numbers = (count: number): RowSet =>
  RowSet.fromSorted(Uint32Array.from({ length: count }, (_, i) => 100 * i))
