import type { BaseEntity, Status } from 'tesser/classes'
import { refuse } from './errors.ts'

/** Status of a save: the entity has been saved elsewhere since it was loaded. */
const STALE = 2
const ATTEMPTS = 3

/** Saves a new entity. @throws the reason of a refusal, for the client */
// biome-ignore lint/suspicious/noExplicitAny: an entity of any dataclass
export function create<E extends BaseEntity<any>>(entity: E): E {
  const status = entity.save()
  if (!status.success) fail(status)
  return entity
}

/**
 * Assigns and saves values; repeats this on the current version if another caller, such as a job, has saved the entity since it was loaded.
 */
// biome-ignore lint/suspicious/noExplicitAny: an entity of any dataclass
export function change(entity: BaseEntity<any>, values: object): void {
  for (let attempt = 1; ; attempt++) {
    entity.fromObject(values)
    const status = entity.save()
    if (status.success) return
    if (status.status !== STALE || attempt === ATTEMPTS) fail(status)
    entity.reload()
  }
}

function fail({ status, statusText, errors }: Status): never {
  // The last one is that of the event or the limit that has refused it.
  refuse(status === STALE ? 409 : 400, 4304, errors?.[0]?.message ?? statusText ?? 'it cannot be saved')
}
