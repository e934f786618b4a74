import type { Granted } from '../../engine/index.ts'

/** A user as the directory or a token knows it. */
export interface User {
  readonly userName: string
  readonly fullName?: string | undefined
  /** Number or text by which older clients know the user. */
  readonly id?: string | number | undefined
  readonly groups: readonly string[]
  readonly granted: Granted
  /** Hash of the entry of the directory: a session whose user has another one by now ends. */
  readonly entry?: string | undefined
}
