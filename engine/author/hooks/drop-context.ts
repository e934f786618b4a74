import type { DataClass } from '../../catalog/dataclass.ts'
import type { EntityBase } from '../data-api/entity.ts'
import type { HookedClasses } from './hooked-classes.ts'

/** Context of all deletions of a thread. */
export class DropContext {
  /** Rows whose drop is in progress, by `identify`. */
  readonly dropping = new Set<number>()
  /** Dataclasses whose events before a deletion have written. */
  readonly inTransaction = new Set<DataClass>()

  /**
   * @param onFault called with faults that can no longer be reported to the client
   * @param calculatedValues returns the current values of the stored calculated attributes of an entity, as JSON
   */
  constructor(
    readonly classes: HookedClasses,
    readonly onFault: (error: unknown) => void,
    readonly calculatedValues: (entity: EntityBase) => Record<string, unknown>,
  ) {}
}
