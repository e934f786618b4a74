import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { isCollision, type Run, type StatementLimits, type Writable } from '../database/database.ts'
import { explainRefusals } from './explain-refusals.ts'
import { isOfConversion, LEFT_OUT, problemsOf } from './refusals.ts'
import { isLocked, type LockGuard } from '../locks/shared-locks.ts'
import type { RemoteRows } from '../reads/remote-rows.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import type { ChangeOutcome, RemoteChange } from './remote-transaction.ts'
import { describeValue } from '../../write/value/convert.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { keysStatement, NO_SCOPE } from '../sql/statements.ts'
import { CHECK_AT_ONCE, NEXT, ROLLBACK_TO, SAVEPOINT } from './savepoints.ts'
import { insertStatement, updateStatement } from '../sql/write-statements.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** Maximum number of rows of one INSERT: while the database inserts them, the next ones are prepared and the last ones are read. */
const MAX_ROWS = 1_000

interface Applied {
  /** Outcomes of the first changes, in their order. */
  readonly outcomes: readonly ChangeOutcome[]
  /** Set if the row of the next change has changed since it was read. */
  readonly isStale: boolean
  /** Set if another transaction interfered, and nothing has changed. */
  readonly isCollision?: boolean
}

/**
 * Makes changes in a database: all or none of them, or each one that the database accepts. The work ends before the change of a row that
 * has changed since it was read.
 * @param guard additional condition for every change of a row
 * @throws {ProtocolError} none of the changes can be made
 */
export async function applyChanges(
  place: Writable,
  rows: RemoteRows,
  changes: readonly RemoteChange[],
  { isAtomic, view }: { readonly isAtomic: boolean; readonly view: View },
  limits: StatementLimits,
  guard?: LockGuard,
): Promise<Applied> {
  // A single statement is its own transaction.
  const isSingle = changes.length === 1
  const work = isSingle ? one : isAtomic ? together : each
  const isKept = ({ isStale, outcomes }: Applied): boolean =>
    !(isAtomic || isSingle) || (!isStale && outcomes.every(({ kind }) => kind === 'done'))
  try {
    const applied = await place.write(limits, run => work(changes, { rows, run, view, guard }), { isSingle, isKept })
    return { ...applied, outcomes: await explainRefusals(applied.outcomes, changes, { place, rows, view, limits }) }
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (isCollision(error)) return { outcomes: [], isStale: true, isCollision: true }
    const [problem] = problemsOf(error, rows.table, new Map(), view) ?? []
    throw problem ?? place.errorOf(error, limits.signal)
  }
}

interface Work {
  readonly rows: RemoteRows
  readonly run: Run
  readonly view: View
  readonly guard: LockGuard | undefined
}

type Apply = (changes: readonly RemoteChange[], work: Work) => Promise<Applied>

const one: Apply = async ([change], work) => {
  const outcome = await tryChange(change!, work)
  return outcome ? { outcomes: [outcome], isStale: false } : { outcomes: [], isStale: true }
}

/** Makes all changes, up to the first that fails. */
const together: Apply = async (changes, work) => {
  const { run } = work
  const outcomes: ChangeOutcome[] = []
  const inserts = new GroupInserts(groupsOf(changes), work, outcomes)
  await run(SAVEPOINT)
  for (const group of inserts.groups) {
    if (await inserts.insert(group)) continue
    for (const change of group) {
      const outcome = await tryChange(change, work)
      if (!outcome) return { outcomes, isStale: true }
      outcomes.push(outcome)
      if (outcome.kind !== 'refused') continue
      return { outcomes: undoneOutcomes(changes.length, outcomes.length - 1, outcome), isStale: false }
    }
  }
  inserts.readRows()
  return { outcomes, isStale: false }
}

/** Outcomes of changes of which all were undone, since one of them was refused. */
export const undoneOutcomes = (count: number, at: number, refusal: ChangeOutcome): ChangeOutcome[] =>
  Array.from({ length: count }, (_, i) => (i === at ? refusal : { kind: 'undone' }))

/** Makes each change that the database accepts. */
const each: Apply = async (changes, work) => {
  const { run } = work
  const outcomes: ChangeOutcome[] = []
  const inserts = new GroupInserts(groupsOf(changes), work, outcomes)
  await run(CHECK_AT_ONCE)
  await run(SAVEPOINT)
  for (const group of inserts.groups) {
    if (await inserts.insert(group)) continue
    for (const change of group) {
      const outcome = await tryChange(change, work)
      if (!outcome) return { outcomes, isStale: true }
      await run(outcome.kind === 'refused' ? ROLLBACK_TO : NEXT)
      outcomes.push(outcome)
    }
  }
  inserts.readRows()
  return { outcomes, isStale: false }
}

/** Inserts of several rows with one statement each. The thread works while the database does. */
class GroupInserts {
  readonly groups: readonly (readonly RemoteChange[])[]
  private prepared: { readonly group: readonly RemoteChange[]; readonly statement: Statement } | undefined
  /** Rows of the last group, without outcomes yet. */
  private written: readonly Cells[] = []

  /** @param outcomes receives outcomes in the order of the changes */
  constructor(
    groups: Iterable<readonly RemoteChange[]>,
    private readonly work: Work,
    private readonly outcomes: ChangeOutcome[],
  ) {
    this.groups = [...groups]
  }

  /** @returns false if the rows of a group have to be inserted one by one */
  async insert(group: readonly RemoteChange[]): Promise<boolean> {
    const { rows, run } = this.work
    if (group.length === 1) {
      this.readRows()
      return false
    }
    await run(NEXT)
    const inserting = run(this.statement(group))
      .then(cells => readAgain(cells, rows, run))
      .catch(() => [])
    this.readRows()
    this.prepare(this.groups[this.groups.indexOf(group) + 1])
    const writtenRows = await inserting
    // A trigger can skip rows.
    const isWhole = writtenRows.length === group.length
    await run(isWhole ? NEXT : ROLLBACK_TO)
    if (isWhole) this.written = writtenRows
    return isWhole
  }

  /** Adds the outcomes of the rows of the last group. */
  readRows(): void {
    for (const cells of this.written) this.outcomes.push(doneOutcome(cells, this.work.rows))
    this.written = []
  }

  private prepare(group: readonly RemoteChange[] | undefined): void {
    if (group && group.length > 1) this.prepared = { group, statement: this.statement(group) }
  }

  private statement(group: readonly RemoteChange[]): Statement {
    if (this.prepared?.group === group) return this.prepared.statement
    const values = group.map(change => change.values)
    return insertStatement(this.work.rows.table, values, group[0]!.timestamp)
  }
}

/** Reads written rows again if their table is partitioned, since it does not return the numbers of transactions. */
async function readAgain(writtenRows: readonly Cells[], rows: RemoteRows, run: Run): Promise<readonly Cells[]> {
  if (!rows.table.isReadAgain || writtenRows.length === 0) return writtenRows
  const ids = writtenRows.map(cells => rows.keyIdOf(cells))
  const freshRows = await run(
    keysStatement(
      rows.table,
      ids.map(id => rows.keyOf(id)!),
      NO_SCOPE,
    ),
  )
  const byId = new Map(freshRows.map(cells => [rows.keyIdOf(cells), cells]))
  return ids.map(id => byId.get(id)!)
}

/** Groups changes: runs of inserts with values for the same attributes, and single other changes. */
function* groupsOf(changes: readonly RemoteChange[]): Generator<RemoteChange[]> {
  let group: RemoteChange[] = []
  let shape = ''
  for (const change of changes) {
    const changeShape = change.kind === 'insert' ? [...change.values.keys()].map(({ name }) => name).join() : undefined
    if (group.length > 0 && (changeShape === undefined || changeShape !== shape || group.length === MAX_ROWS)) {
      yield group
      group = []
    }
    group.push(change)
    if (changeShape === undefined) {
      yield group
      group = []
    } else shape = changeShape
  }
  if (group.length > 0) yield group
}

/** @returns undefined if the row has changed since it was read */
async function tryChange(change: RemoteChange, { rows, run, view, guard }: Work): Promise<ChangeOutcome | undefined> {
  const { table } = rows
  const { values, timestamp } = change
  let writtenRows: readonly Cells[]
  try {
    const statement =
      change.kind === 'insert'
        ? insertStatement(table, [values], timestamp)
        : updateStatement(table, change.key, change.stamp, values, timestamp, guard?.(change.key))
    writtenRows = await readAgain(await run(statement), rows, run)
  } catch (error) {
    const problems =
      isLocked(error) && change.kind === 'update'
        ? [lockedError(change.key, table)]
        : problemsOf(error, table, values, view)
    if (!problems) throw error
    return { kind: 'refused', problems, ...(isOfConversion(error) && { conversionError: error }) }
  }
  if (writtenRows.length > 0) return doneOutcome(writtenRows[0]!, rows)
  return change.kind === 'insert' ? leftOut(table) : undefined
}

/** Outcome of a change that had no effect because of a policy, a rule or a trigger of the table. */
export const leftOut = ({ dataClass }: RemoteTable): ChangeOutcome => ({
  kind: 'refused',
  problems: [RemoteErrors.REFUSED_ENTITY(dataClass.name, LEFT_OUT)],
})

/** Outcome of a change that was made. The rows that the work has read are not updated, since it runs again with the outcomes. */
const doneOutcome = (cells: Cells, rows: RemoteRows): ChangeOutcome => ({ kind: 'done', ...rows.encode(cells) })

const lockedError = (key: Value, { dataClass }: RemoteTable): ProtocolError =>
  WriteErrors.LOCKED(describeValue(dataClass.key, key), dataClass.name)
