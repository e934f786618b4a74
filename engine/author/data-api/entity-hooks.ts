import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { NewJob } from '../../jobs/job.ts'
import type { RemoteCondition } from '../../query/plan/nodes/remote-query.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { DeleteRequest, DeleteResult, SaveFailure } from '../../write/contract/requests.ts'
import type { EntityBase } from './entity.ts'
import type { CodeSession } from './code-session.ts'

/** Some entities of a dataclass: its rows, or the conditions for the entities of a remote dataclass. */
export type Visible = RowSet | readonly RemoteCondition[]

/** Plugin code around saves and drops, for dataclasses that have some. */
export interface EntityHooks {
  /** Called after a value has been assigned. */
  touched?(entity: EntityBase, attribute: StorageAttribute): void
  /** Entities of a dataclass that the call may see; undefined: all of them. The member exists only if there are restrict events. */
  readonly findVisible?: ((dataClass: DataClass, codeSession: CodeSession) => Visible | undefined) | undefined
  /** Called after a new entity has been made. */
  constructed?(entity: EntityBase): void
  /** True if {@link beforeSave} may run code for entities of a dataclass. */
  runsBeforeSave?(dataClass: DataClass): boolean
  /** True if the events before saves of this number of entities of a dataclass have needed a transaction. */
  needsTransaction?(dataClass: DataClass, entities: number): boolean
  /** @param always false if only saves of several entities need a transaction, because their events read entities of the same dataclass */
  noteTransaction?(dataClass: DataClass, always: boolean): void
  /** @returns the reason why it must not be saved */
  beforeSave?(entity: EntityBase): SaveFailure | undefined
  /** Jobs that the events of the entity have enqueued in {@link beforeSave}. */
  jobsOf?(entity: EntityBase): readonly NewJob[] | undefined
  /** @param failure undefined: it has been saved */
  afterSave?(entity: EntityBase, failure: SaveFailure | undefined): void
  /** Called when a save ends without {@link afterSave}: code threw, or the writer could not be reached. */
  interrupted?(entity: EntityBase): void
  /** Calls `send`, with the events before and after it. */
  drop?(
    request: Omit<DeleteRequest, 'kind'>,
    codeSession: CodeSession,
    send: (request: Omit<DeleteRequest, 'kind'>) => DeleteResult,
  ): DeleteResult
}
