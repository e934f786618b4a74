import { Suspended } from '../../data/suspended.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** A statement for the database of a connection. Its answer are rows. Plain data. */
export interface RemoteCall {
  readonly connection: string
  readonly statement: Statement
}

/** Asks databases: yields statements, receives their rows. So both threads that wait and threads that do not can drive it. */
export type RemoteFetch = Generator<RemoteCall, void, Cells[]>

/** Gets what a task needs, either before it returns or by a suspension. @throws {Suspended} {ProtocolError} */
export type Need = (fetch: () => RemoteFetch) => void

/** Stops the task, which begins again when it has what it needs. */
export const stopAndAsk: Need = fetch => {
  throw new Suspended({ kind: 'rows', fetch })
}
