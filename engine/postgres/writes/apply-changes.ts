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
export function applyChanges(
  place: Writable,
  rows: RemoteRows,
  changes: readonly RemoteChange[],
  { isAtomic, view }: { readonly isAtomic: boolean; readonly view: View },
  limits: StatementLimits,
  guard?: LockGuard,
): Promise<Applied> {
  // A single statement is its own transaction.
  const isSingle = changes.length === 1
  const apply = (run: Run): Promise<Applied> => {
    const work = { rows, run, view, guard }
    if (isSingle) return one(changes[0]!, work)
    return isAtomic ? together(groupsOf(changes), work, changes.length) : each(groupsOf(changes), work)
  }
  const isKept = ({ isStale, outcomes }: Applied): boolean =>
    !(isAtomic || isSingle) || (!isStale && outcomes.every(({ kind }) => kind === 'done'))
  return applied(place, apply, { isSingle, isKept }, { rows, view, limits })
}

/**
 * Makes each change that the database accepts, in one transaction. The changes are found piece by piece, while the database makes those
 * before them.
 * @param next returns the changes of the next piece, undefined after the last one @param isKept false: none of the changes is kept
 */
export function applyPieces(
  place: Writable,
  rows: RemoteRows,
  next: (outcomes: readonly ChangeOutcome[]) => Promise<readonly RemoteChange[] | undefined>,
  isKept: () => boolean,
  { view, limits }: { readonly view: View; readonly limits: StatementLimits },
): Promise<Applied> {
  const apply = (run: Run): Promise<Applied> => {
    const outcomes: ChangeOutcome[] = []
    async function* groups(): AsyncGenerator<readonly RemoteChange[]> {
      for (let piece = await next(outcomes); piece; piece = await next(outcomes)) yield* groupsOf(piece)
    }
    return each(groups(), { rows, run, view, guard: undefined }, outcomes)
  }
  return applied(place, apply, { isSingle: false, isKept }, { rows, view, limits })
}

/** @throws {ProtocolError} none of the changes can be made */
async function applied(
  place: Writable,
  apply: (run: Run) => Promise<Applied>,
  options: { readonly isSingle: boolean; readonly isKept: (applied: Applied) => boolean },
  { rows, view, limits }: { readonly rows: RemoteRows; readonly view: View; readonly limits: StatementLimits },
): Promise<Applied> {
  try {
    const result = await place.write(limits, apply, options)
    return { ...result, outcomes: await explainRefusals(result.outcomes, { place, rows, view, limits }) }
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

type Groups = Iterator<readonly RemoteChange[]> | AsyncIterator<readonly RemoteChange[]>

async function one(change: RemoteChange, work: Work): Promise<Applied> {
  const outcome = await tryChange(change, work)
  return outcome ? { outcomes: [outcome], isStale: false } : { outcomes: [], isStale: true }
}

/** Makes all changes, up to the first that fails. @param count number of changes */
async function together(groups: Groups, work: Work, count: number): Promise<Applied> {
  const { run } = work
  const outcomes: ChangeOutcome[] = []
  const inserts = new GroupInserts(groups, work, outcomes)
  await run(SAVEPOINT)
  for (let group = await inserts.next(); group; group = await inserts.next()) {
    if (await inserts.insert(group)) continue
    for (const change of group.changes) {
      const outcome = await tryChange(change, work)
      if (!outcome) return { outcomes, isStale: true }
      outcomes.push(outcome)
      if (outcome.kind !== 'refused') continue
      return { outcomes: undoneOutcomes(count, outcomes.length - 1, outcome), isStale: false }
    }
  }
  inserts.readRows()
  return { outcomes, isStale: false }
}

/** Outcomes of changes of which all were undone, since one of them was refused. */
export const undoneOutcomes = (count: number, at: number, refusal: ChangeOutcome): ChangeOutcome[] =>
  Array.from({ length: count }, (_, i) => (i === at ? refusal : { kind: 'undone' }))

/** Makes each change that the database accepts. @param outcomes receives outcomes in the order of the changes */
async function each(groups: Groups, work: Work, outcomes: ChangeOutcome[] = []): Promise<Applied> {
  const { run } = work
  const inserts = new GroupInserts(groups, work, outcomes)
  await run(CHECK_AT_ONCE)
  await run(SAVEPOINT)
  for (let group = await inserts.next(); group; group = await inserts.next()) {
    if (await inserts.insert(group)) continue
    for (const change of group.changes) {
      const outcome = await tryChange(change, work)
      if (!outcome) return { outcomes, isStale: true }
      await run(outcome.kind === 'refused' ? ROLLBACK_TO : NEXT)
      outcomes.push(outcome)
    }
  }
  inserts.readRows()
  return { outcomes, isStale: false }
}

interface Group {
  readonly changes: readonly RemoteChange[]
  /** Undefined for a single change. */
  readonly statement: Statement | undefined
}

/** Inserts of several rows with one statement each. The thread works while the database does. */
class GroupInserts {
  /** The group after the current one. */
  private upcoming: Promise<Group | undefined> | undefined
  /** Rows of the last group, without outcomes yet. */
  private written: readonly Cells[] = []

  /** @param outcomes receives outcomes in the order of the changes */
  constructor(
    private readonly groups: Groups,
    private readonly work: Work,
    private readonly outcomes: ChangeOutcome[],
  ) {}

  /** @returns undefined after the last group */
  next(): Promise<Group | undefined> {
    const group = this.upcoming ?? this.prepare()
    this.upcoming = undefined
    return group
  }

  /** @returns false if the rows of a group have to be inserted one by one */
  async insert({ changes, statement }: Group): Promise<boolean> {
    const { rows, run } = this.work
    if (!statement) {
      this.readRows()
      return false
    }
    await run(NEXT)
    const inserting = run(statement)
      .then(cells => readAgain(cells, rows, run))
      .catch(() => [])
    this.readRows()
    this.upcoming = this.prepare()
    const [writtenRows] = await Promise.all([inserting, this.upcoming])
    // A trigger can skip rows.
    const isWhole = writtenRows.length === changes.length
    await run(isWhole ? NEXT : ROLLBACK_TO)
    if (isWhole) this.written = writtenRows
    return isWhole
  }

  /** Adds the outcomes of the rows of the last group. */
  readRows(): void {
    for (const cells of this.written) this.outcomes.push(doneOutcome(cells, this.work.rows))
    this.written = []
  }

  private async prepare(): Promise<Group | undefined> {
    const { value: changes, done } = await this.groups.next()
    if (done) return undefined
    return { changes, statement: changes.length > 1 ? this.statement(changes) : undefined }
  }

  private statement(changes: readonly RemoteChange[]): Statement {
    const values = changes.map(change => change.values)
    return insertStatement(this.work.rows.table, values, changes[0]!.timestamp)
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
function* groupsOf(changes: readonly RemoteChange[]): Generator<readonly RemoteChange[]> {
  for (let start = 0; start < changes.length; ) {
    const first = changes[start]!
    let end = start + 1
    while (end < changes.length && end - start < MAX_ROWS && isLike(changes[end]!, first)) end++
    yield changes.slice(start, end)
    start = end
  }
}

/** True for two inserts with values for the same attributes. */
function isLike(change: RemoteChange, first: RemoteChange): boolean {
  if (change.kind !== 'insert' || first.kind !== 'insert' || change.values.size !== first.values.size) return false
  const attributes = first.values.keys()
  for (const attribute of change.values.keys()) if (attribute !== attributes.next().value) return false
  return true
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
    return { kind: 'refused', problems, ...(isOfConversion(error) && { unfit: { error, values } }) }
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
function doneOutcome(cells: Cells, rows: RemoteRows): ChangeOutcome {
  const { rowId, row } = rows.encode(cells)
  return { kind: 'done', rowId, row }
}

const lockedError = (key: Value, { dataClass }: RemoteTable): ProtocolError =>
  WriteErrors.LOCKED(describeValue(dataClass.key, key), dataClass.name)
