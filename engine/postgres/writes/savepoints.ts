import type { Statement } from '../sql/statement.ts'

export const SAVEPOINT: Statement = { text: 'SAVEPOINT tesser', values: [] }
export const ROLLBACK_TO: Statement = { text: 'ROLLBACK TO SAVEPOINT tesser', values: [] }
/** Releases the savepoint before a new one, since savepoints that are not released cost memory of the database. */
export const NEXT: Statement = { text: 'RELEASE SAVEPOINT tesser; SAVEPOINT tesser', values: [], isPlain: true }
/** Makes the database check deferred constraints with each change, so that only the change that violates one is refused. */
export const CHECK_AT_ONCE: Statement = { text: 'SET CONSTRAINTS ALL IMMEDIATE', values: [] }
