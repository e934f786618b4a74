import { RemoteNeeded } from '../../query/plan/nodes/remote-query.ts'
import type { Cells } from '../database/database.ts'
import type { Statement } from '../sql/statement.ts'

/** A statement for the database of a connection. Its answer are rows. Plain data. */
export interface RemoteCall {
  readonly connection: string
  readonly statement: Statement
}

/** Asks databases: yields statements, receives their rows. So both threads that wait and threads that do not can drive it. */
export type RemoteFetch = Generator<RemoteCall, void, Cells[]>

/** Gets what a task needs, either before it returns or by a {@link RemoteNeeded}. @throws {RemoteNeeded} {ProtocolError} */
export type Need = (fetch: () => RemoteFetch) => void

/** Stops the task, which begins again when {@link neededBy} has got what it needs. */
export const stopAndAsk: Need = fetch => {
  throw new RemoteNeeded(fetch)
}

/** Gets what a task needs that was stopped by an error. @returns undefined: it is another error */
export const neededBy = (error: unknown): (() => RemoteFetch) | undefined =>
  error instanceof RemoteNeeded ? (error.fetch as () => RemoteFetch) : undefined
