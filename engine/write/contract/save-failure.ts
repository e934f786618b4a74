import type { ProtocolError, SaveStatus } from '../../base/errors.ts'
import type { LockInfo } from '../../caller/lock-holder.ts'
import type { SaveFailure } from './requests.ts'
import { describe, WriteErrors } from './write-errors.ts'

interface Named {
  readonly name: string
}

/** Status of a failure for which the protocol has no other. */
export const OTHER_STATUS: SaveStatus = { status: 4, statusText: 'Other error' }

/** Public description of a lock. Source: protocol notes, 8.8. */
export const lockStatus = (info: LockInfo): SaveStatus => ({
  ...WriteErrors.definitions.LOCKED.save,
  lockKind: 7,
  lockKindText: 'Locked By Session',
  lockInfo: info,
})

/** Error that states the consequence of an entity's problems. @param sentKey null for a new entity */
export const notSaved = ({ name }: Named, sentKey: unknown): ProtocolError =>
  sentKey === null ? WriteErrors.NEW_ENTITY_NOT_SAVED(name) : WriteErrors.ENTITY_NOT_SAVED(describe(sentKey), name)

/** `__STATUS` and `__ERROR` of an entity that was not saved: all its problems, then their consequence. */
export function saveFailure([first, ...rest]: readonly ProtocolError[], consequence: ProtocolError): SaveFailure {
  const error = first!.followedBy(...rest, consequence)
  return { status: error.saveStatus ?? OTHER_STATUS, error: error.toData() }
}

/** Failure for an entity whose events have read data that others changed during each attempt to save it. */
export const changedFailure = (dataClass: Named, attempts: number, sentKey: unknown): SaveFailure =>
  saveFailure([WriteErrors.CHANGED_MEANWHILE(dataClass.name, attempts)], notSaved(dataClass, sentKey))

/** Failure for an entity that does not exist or that its caller may not see: both are reported alike. */
export const notFound = (sentKey: unknown, dataClass: Named): SaveFailure =>
  saveFailure([WriteErrors.ENTITY_NOT_FOUND(describe(sentKey), dataClass.name)], notSaved(dataClass, sentKey))
