import { Suspended } from '../../data/suspended.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** A statement for the database of a connection, which answers with rows. Plain data. */
export interface RemoteCall {
  readonly connection: string
  readonly statement: Statement
}

/** Queries of databases: yields statements and receives their rows. It can be driven by threads that wait and by threads that do not. */
export type RemoteFetch = Generator<RemoteCall, void, Cells[]>

/** Fetches what a task needs, either before it returns or by suspending the task. @throws {Suspended} {ProtocolError} */
export type Need = (fetch: () => RemoteFetch) => void

/** Suspends the task, which runs again when the rows have been fetched. */
export const stopAndAsk: Need = fetch => {
  throw new Suspended({ kind: 'rows', fetch })
}
