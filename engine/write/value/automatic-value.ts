import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'

/** Sources of the automatic values of new entities. */
export interface AutomaticSource {
  /** Milliseconds since 1970. */
  readonly moment: number
  /** Name of the user; empty for a guest and for the server itself. */
  readonly user: string
  /** 32 upper-case hex digits. */
  readonly randomUuid: () => string
}

const DAY_MS = 86_400_000

/** Automatic value of a new entity; null if there is none. Automatic numbers are not included, since the store counts them. */
export function automaticValue({ autoFill, simpleDate }: StorageAttribute, source: AutomaticSource): Value {
  const { moment, user, randomUuid } = source
  switch (autoFill) {
    case 'uuid':
      return randomUuid()
    case 'now':
      return simpleDate ? Math.floor(moment / DAY_MS) * DAY_MS : moment
    case 'user':
      return user === '' ? null : user
    default:
      return null
  }
}
