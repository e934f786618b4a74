import { ProtocolError } from '../base/errors.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import type { Cells, Database, StatementLimits } from './database.ts'
import { problemsOf } from './refusals.ts'
import type { RemoteRows } from './remote-rows.ts'
import type { ChangeOutcome, RemoteChange } from './remote-transaction.ts'
import type { Statement } from './sql/statement.ts'
import { insertStatement, updateStatement } from './sql/write-statements.ts'

type Run = (statement: Statement) => Promise<Cells[]>

/** Maximum number of rows of one INSERT. */
const MAX_ROWS = 2_000
const SAVEPOINT: Statement = { text: 'SAVEPOINT tesser', values: [] }
const ROLLBACK_TO: Statement = { text: 'ROLLBACK TO SAVEPOINT tesser', values: [] }
const statement = (text: string): Statement => ({ text, values: [] })

interface Applied {
  /** Outcomes of the first changes, in their order. */
  readonly outcomes: readonly ChangeOutcome[]
  /** Set if the row of the next change is no longer what it was read as. */
  readonly isStale: boolean
}

/**
 * Makes changes in a database: all or none of them, or each that the database does not refuse. A row that has changed since it was
 * read ends the work before its change.
 * @throws {ProtocolError} the changes cannot be made at all
 */
export async function applyChanges(
  database: Database,
  rows: RemoteRows,
  changes: readonly RemoteChange[],
  isAtomic: boolean,
  limits: StatementLimits,
): Promise<Applied> {
  let isSent = false
  try {
    return await database.session(limits, async run => {
      isSent = true
      const [only, more] = changes
      // A statement is a transaction by itself.
      if (!more) return await one(only!, rows, run)
      await run(statement('BEGIN'))
      const applied = await (isAtomic ? together(changes, rows, run) : each(changes, rows, run))
      const isKept = !isAtomic || (!applied.isStale && applied.outcomes.every(({ kind }) => kind === 'done'))
      await run(statement(isKept ? 'COMMIT' : 'ROLLBACK'))
      return applied
    })
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const known = database.errorOf(error, limits.signal) as ProtocolError
    throw isSent && known.name === 'REMOTE.AWAY' ? RemoteErrors.OUTCOME_UNKNOWN(database.name) : known
  }
}

async function one(change: RemoteChange, rows: RemoteRows, run: Run): Promise<Applied> {
  const outcome = await tried(change, rows, run)
  return outcome ? { outcomes: [outcome], isStale: false } : { outcomes: [], isStale: true }
}

/** All of them, up to the first that fails. */
async function together(changes: readonly RemoteChange[], rows: RemoteRows, run: Run): Promise<Applied> {
  const outcomes: ChangeOutcome[] = []
  for (const group of groupsOf(changes)) {
    await run(SAVEPOINT)
    const many = group.length > 1 ? await inserted(group, rows, run).catch(() => undefined) : undefined
    if (many) {
      outcomes.push(...many)
      continue
    }
    if (group.length > 1) await run(ROLLBACK_TO)
    for (const change of group) {
      const outcome = await tried(change, rows, run)
      if (!outcome) return { outcomes, isStale: true }
      outcomes.push(outcome)
      if (outcome.kind !== 'refused') continue
      return {
        outcomes: changes.map((_, i) => (i === outcomes.length - 1 ? outcome : UNDONE)),
        isStale: false,
      }
    }
  }
  return { outcomes, isStale: false }
}

const UNDONE: ChangeOutcome = { kind: 'undone' }

/** Each that the database does not refuse. */
async function each(changes: readonly RemoteChange[], rows: RemoteRows, run: Run): Promise<Applied> {
  const outcomes: ChangeOutcome[] = []
  for (const group of groupsOf(changes)) {
    await run(SAVEPOINT)
    const many = group.length > 1 ? await inserted(group, rows, run).catch(() => undefined) : undefined
    if (many) {
      outcomes.push(...many)
      continue
    }
    if (group.length > 1) await run(ROLLBACK_TO)
    for (const change of group) {
      await run(SAVEPOINT)
      const outcome = await tried(change, rows, run)
      if (!outcome) return { outcomes, isStale: true }
      if (outcome.kind === 'refused') await run(ROLLBACK_TO)
      outcomes.push(outcome)
    }
  }
  return { outcomes, isStale: false }
}

/** Runs of inserts with values for the same attributes, and single changes. */
function* groupsOf(changes: readonly RemoteChange[]): Generator<RemoteChange[]> {
  let group: RemoteChange[] = []
  let shape = ''
  for (const change of changes) {
    const own = change.kind === 'insert' ? [...change.values.keys()].map(({ name }) => name).join() : undefined
    if (group.length > 0 && (own === undefined || own !== shape || group.length === MAX_ROWS)) {
      yield group
      group = []
    }
    group.push(change)
    if (own === undefined) {
      yield group
      group = []
    } else shape = own
  }
  if (group.length > 0) yield group
}

async function inserted(group: readonly RemoteChange[], rows: RemoteRows, run: Run): Promise<ChangeOutcome[]> {
  const values = group.map(change => change.values)
  return (await run(insertStatement(rows.table, values, group[0]!.timestamp))).map(cells => done(cells, rows))
}

/** @returns undefined if the row has changed since it was read */
async function tried(change: RemoteChange, rows: RemoteRows, run: Run): Promise<ChangeOutcome | undefined> {
  const { table } = rows
  const { values, timestamp } = change
  try {
    const [cells] = await run(
      change.kind === 'insert'
        ? insertStatement(table, [values], timestamp)
        : updateStatement(table, change.key, change.stamp, values, timestamp),
    )
    return cells && done(cells, rows)
  } catch (error) {
    const problems = problemsOf(error, table, values)
    if (!problems) throw error
    return { kind: 'refused', problems }
  }
}

/** The rows that the work has read stay as they were: it runs again with the outcomes. */
const done = (cells: Cells, rows: RemoteRows): ChangeOutcome => ({ kind: 'done', ...rows.encode(cells) })
