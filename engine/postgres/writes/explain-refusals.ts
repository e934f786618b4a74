import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { View } from '../../catalog/view.ts'
import { isOfStatement, type StatementLimits, type Writable } from '../database/database.ts'
import type { RemoteRows } from '../reads/remote-rows.ts'
import { type ColumnValues, conversionStatement } from '../sql/write-statements.ts'
import { problemsOf } from './refusals.ts'
import type { ChangeOutcome } from './remote-transaction.ts'

/** Maximum number of statements that look for unfit values: an import can have many of them. */
const MAX_STATEMENTS = 200

interface Refused {
  readonly place: Writable
  readonly rows: RemoteRows
  readonly view: View
  readonly limits: StatementLimits
}

/** Names the attributes of values that the database cannot convert: its errors do not name them, so each value is converted by itself. */
export async function explainRefusals(outcomes: readonly ChangeOutcome[], refused: Refused): Promise<ChangeOutcome[]> {
  const { rows, view } = refused
  const result: ChangeOutcome[] = []
  let statements = 0
  for (const outcome of outcomes) {
    const unfit = outcome.kind === 'refused' ? outcome.unfit : undefined
    if (outcome.kind !== 'refused' || !unfit || statements + unfit.values.size > MAX_STATEMENTS) {
      result.push(outcome)
      continue
    }
    const { error, values } = unfit
    statements += values.size
    const attribute = await findUnfit(values, refused)
    result.push({
      kind: 'refused',
      problems: problemsOf(error, rows.table, values, view, attribute) ?? outcome.problems,
    })
  }
  return result
}

async function findUnfit(
  values: ColumnValues,
  { place, rows: { table }, limits }: Refused,
): Promise<StorageAttribute | undefined> {
  for (const [attribute, value] of values) {
    if (value === null) continue
    const statement = conversionStatement(table, attribute, value)
    try {
      // Nothing is kept, so that an error leaves a transaction usable.
      await place.write(limits, run => run(statement), { isSingle: true, isKept: () => false })
    } catch (error) {
      return isOfStatement(error as Error) ? attribute : undefined
    }
  }
  return undefined
}
