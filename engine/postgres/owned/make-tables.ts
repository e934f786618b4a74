import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { Note } from '../../data/store-options.ts'
import { isOfStatement } from '../database/database.ts'
import { placeOf, type PlacesCatalog, placesStatement, readPlaces } from '../database/database-catalog.ts'
import { foldFunction } from '../sql/fold-sql.ts'
import type { Cells, Statement } from '../sql/statement.ts'
import { planRelations, planTable, type TablePlan } from './plan-table.ts'
import { type TableSpec, tableSpec } from './table-spec.ts'
import { TRIGGER_FUNCTIONS } from './triggers.ts'

type Run = (statement: Statement) => Promise<Cells[]>

/** Number of the advisory lock of all servers that create tables in a database: `tesser` in ASCII. */
const LOCK = 128_034_676_762_994n
/** Time after which a statement that waits for others is abandoned: while it waits, no other statement can access the table. */
const LOCK_MS = 5_000

/** A statement that runs once. */
const once = (text: string): Statement => ({ text, values: [], isPlain: true })

/**
 * Creates or changes the tables of dataclasses, each in a separate transaction, one at a time in each database; then their foreign keys.
 * @returns reasons by dataclass for tables that stay as they were
 * @throws errors of the connection, and of statements that describe tables
 */
export async function makeTables(
  { dataClasses }: Catalog,
  ownedClasses: readonly DataClass[],
  run: Run,
  onNote: Note,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const problems = new Map<string, readonly string[]>()
  const usedPlaces = new Set(
    dataClasses.flatMap(({ remote }) => (remote ? [placeOf(remote.schema, remote.table)] : [])),
  )
  const isUsed = (schema: string, table: string): boolean => usedPlaces.has(placeOf(schema, table))
  const functionProblems = await transaction(ownedClasses[0]!, run, (_, state) => planFunctions(state))
  if (functionProblems.length > 0) return new Map(ownedClasses.map(({ name }) => [name, functionProblems]))
  const plans = [(spec: TableSpec, state: PlacesCatalog): TablePlan => planTable(spec, state, isUsed), planRelations]
  for (const plan of plans) {
    for (const dataClass of ownedClasses) {
      if (problems.has(dataClass.name)) continue
      const classProblems = await transaction(
        dataClass,
        run,
        (spec, state) => {
          const isDone = state.tables.get(placeOf(spec.schema, spec.table))?.comment === spec.mark
          return isDone ? NOTHING : plan(spec, state)
        },
        onNote,
      )
      if (classProblems.length > 0) problems.set(dataClass.name, classProblems)
    }
  }
  return problems
}

const NOTHING: TablePlan = { steps: [], problems: [], notes: [] }
const SCHEMA = 'CREATE SCHEMA IF NOT EXISTS tesser;\n'

/** Plans the functions. Creating a schema requires the right to create even if it exists. */
function planFunctions({ schemas, hasFold, hasTriggers }: PlacesCatalog): TablePlan {
  const functions = [...(hasFold ? [] : [foldFunction()]), ...(hasTriggers ? [] : [TRIGGER_FUNCTIONS])]
  const steps = functions.map(text => text.replace(SCHEMA, ''))
  return { ...NOTHING, steps: [...(steps.length > 0 && !schemas.has('tesser') ? [SCHEMA] : []), ...steps] }
}

/** @returns reasons why nothing has changed */
async function transaction(
  dataClass: DataClass,
  run: Run,
  planOf: (spec: TableSpec, state: PlacesCatalog) => TablePlan,
  onNote: Note = () => {},
): Promise<readonly string[]> {
  await run(once(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${LOCK_MS}`))
  try {
    await run(once(`SELECT pg_advisory_xact_lock(${LOCK})`))
    const { schema, table, ownedStorage: storage } = dataClass.remote!
    const former = storage!.formerTable
    const places = [{ schema, table }, { schema: 'tesser', table: '' }, ...(former ? [{ schema, table: former }] : [])]
    const state = readPlaces(await run(placesStatement(places)))
    const plan = planOf(tableSpec(dataClass, state.hasVectors), state)
    const problems = [...plan.problems]
    if (problems.length === 0) {
      for (const step of plan.steps) problems.push(...(await tryStep(step, run)))
    }
    await run(once(problems.length > 0 ? 'ROLLBACK' : 'COMMIT'))
    if (problems.length === 0) for (const note of plan.notes) onNote(`${dataClass.name}: ${note}`)
    return problems
  } catch (error) {
    await run(once('ROLLBACK')).catch(() => {})
    throw error
  }
}

/** @returns the reason, if the database refuses the statement */
async function tryStep(step: string, run: Run): Promise<string[]> {
  await run(once('SAVEPOINT tesser'))
  try {
    await run(once(step))
    return []
  } catch (error) {
    if (!isOfStatement(error as Error)) throw error
    await run(once('ROLLBACK TO SAVEPOINT tesser'))
    const { message, detail } = error as Error & { detail?: string }
    return [`${message}${detail ? ` (${detail})` : ''}, in: ${step.slice(0, MAX_SHOWN)}`]
  }
}

/** Maximum length of a shown statement. Functions are longer, and do not depend on a model. */
const MAX_SHOWN = 500
