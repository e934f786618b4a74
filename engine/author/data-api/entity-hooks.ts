import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { DeleteRequest, DeleteResult, SaveFailure } from '../../write/contract/requests.ts'
import type { EntityBase } from './entity.ts'
import type { Language } from './language.ts'

/** Code around saves and drops, for dataclasses that have some. */
export interface EntityHooks {
  /** After a value has been assigned. */
  touched?(entity: EntityBase, attribute: StorageAttribute): void
  /** Rows of a dataclass that the call may see; undefined: all of them. Only there when there is a restriction at all. */
  readonly visible?: ((dataClass: DataClass, language: Language) => RowSet | undefined) | undefined
  /** A new entity has been made. */
  constructed?(entity: EntityBase): void
  /** @returns why it must not be saved */
  beforeSave?(entity: EntityBase): SaveFailure | undefined
  /** @param failure undefined: it has been saved */
  afterSave?(entity: EntityBase, failure: SaveFailure | undefined): void
  /** Code has thrown, or the writer could not be asked: its save has ended without {@link afterSave}. */
  interrupted?(entity: EntityBase): void
  /** Does what `send` does alone with whatever is to happen around it. */
  drop?(
    request: Omit<DeleteRequest, 'kind'>,
    language: Language,
    send: (request: Omit<DeleteRequest, 'kind'>) => DeleteResult,
  ): DeleteResult
}
