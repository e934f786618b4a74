import type { Granted } from '../../engine/index.ts'

/** A user as described by the directory or a token. */
export interface User {
  readonly userName: string
  readonly fullName?: string | undefined
  /** Number or text by which older clients know the user. */
  readonly id?: string | number | undefined
  readonly groups: readonly string[]
  readonly granted: Granted
  /** Hash of the user's entry in the directory: when it changes, the user's sessions end. */
  readonly entry?: string | undefined
}
