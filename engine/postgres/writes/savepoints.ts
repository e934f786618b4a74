import type { Statement } from '../sql/statement.ts'

export const SAVEPOINT: Statement = { text: 'SAVEPOINT tesser', values: [] }
export const ROLLBACK_TO: Statement = { text: 'ROLLBACK TO SAVEPOINT tesser', values: [] }
/** Savepoints that are not released cost memory of the database. */
export const NEXT: Statement = { text: 'RELEASE SAVEPOINT tesser; SAVEPOINT tesser', values: [], isPlain: true }
/** Rules that are deferred are checked with each change from now on, which is then refused by itself. */
export const CHECK_AT_ONCE: Statement = { text: 'SET CONSTRAINTS ALL IMMEDIATE', values: [] }
