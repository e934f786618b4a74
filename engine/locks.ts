import type { Backends } from './backend/backends.ts'
import type { Queries } from './queries.ts'
import { PermissionErrors } from './permission/permission-errors.ts'
import type { SaveStatus } from './base/errors.ts'
import type { Caller } from './caller/caller.ts'
import { lockHolder, type SessionData } from './caller/session-data.ts'
import { demandUniqueAddress } from './query/bind/demand-unique-address.ts'
import type { ReadRequest } from './query/contract/request.ts'
import { lockStatus } from './write/contract/save-failure.ts'
import type { ListLocksResult } from './write/contract/requests.ts'

/** Outcome of a lock or an unlock. */
export interface LockOutcome {
  /** True if the entity is now in the requested state. */
  readonly result: boolean
  /** `__STATUS` of the answer: that the entity was not locked, or the owner of the lock. */
  readonly status: { readonly success: boolean; readonly wasNotLocked?: true } & Partial<SaveStatus>
}

/** Locks on entities. Documented in `PluginEngine`. */
export class Locks {
  constructor(
    private readonly backends: Backends,
    private readonly queries: Queries,
  ) {}

  async lock(request: ReadRequest, lock: boolean, session: SessionData, caller?: Caller): Promise<LockOutcome> {
    const view = this.queries.view(request.access)
    const dataClass = view.dataClass(request.dataClass)
    // A lock prevents changes to the entity, so it needs the right to change it.
    if (!view.may('update', dataClass)) throw PermissionErrors.UPDATE(dataClass.name)
    demandUniqueAddress(request, view)
    const holder = lockHolder(session)
    const locking = { read: this.backends.withRights(request), lock, holder }
    const { result, wasNotLocked, blocker } = await this.backends.of(dataClass).lock(locking, caller)
    if (blocker) return { result, status: { success: false, ...lockStatus(blocker) } }
    return { result, status: { success: true, ...(wasNotLocked && { wasNotLocked }) } }
  }

  async list(limit: number): Promise<ListLocksResult> {
    const lists = await Promise.all(this.backends.all.map(backend => backend.listLocks(limit)))
    const count = lists.reduce((sum, list) => sum + list.count, 0)
    return { kind: 'listLocks', count, locks: lists.flatMap(({ locks }) => locks).slice(0, limit) }
  }

  async free(owner: string): Promise<void> {
    for (const backend of this.backends.all) await backend.freeLocks(owner)
  }
}
