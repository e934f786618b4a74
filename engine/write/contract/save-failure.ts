import type { ProtocolError, SaveStatus } from '../../base/errors.ts'
import type { LockInfo } from '../../caller/lock-holder.ts'
import type { SaveFailure } from './requests.ts'
import { describe, WriteErrors } from './write-errors.ts'

const OTHER: SaveStatus = { status: 4, statusText: 'Other error' }

/** Public description of a lock. Source: protocol notes, 8.8. */
export const lockStatus = (info: LockInfo): SaveStatus => ({
  ...WriteErrors.definitions.LOCKED.save,
  lockKind: 7,
  lockKindText: 'Locked By Session',
  lockInfo: info,
})

/** `__STATUS` and `__ERROR` of an entity that was not saved: all its problems, then their consequences. */
export function saveFailure([first, ...rest]: readonly ProtocolError[], ...consequences: ProtocolError[]): SaveFailure {
  const error = first!.followedBy(...rest, ...consequences)
  return { status: error.saveStatus ?? OTHER, error: error.toData() }
}

/** Failure for an entity whose events have read what others changed during each attempt to save it. */
export const changedFailure = ({ name }: { readonly name: string }, attempts: number, key: unknown): SaveFailure =>
  saveFailure(
    [WriteErrors.CHANGED_MEANWHILE(name, attempts)],
    key === null ? WriteErrors.NEW_ENTITY_NOT_SAVED(name) : WriteErrors.ENTITY_NOT_SAVED(describe(key), name),
  )

/** Failure for an entity that does not exist or that its caller may not see: both are reported alike. */
export function notFound(sentKey: unknown, { name }: { readonly name: string }): SaveFailure {
  const key = describe(sentKey)
  return saveFailure([WriteErrors.ENTITY_NOT_FOUND(key, name)], WriteErrors.ENTITY_NOT_SAVED(key, name))
}
