import { randomUUID } from 'node:crypto'
import { buildCatalog } from '../../catalog/build-catalog.ts'
import type { DataClass, WireOptions } from '../../catalog/dataclass.ts'
import type { Model } from '../../catalog/model-schema.ts'
import { assignNumbers, type TableNumbers } from '../../catalog/table-numbers.ts'
import type { Environment } from '../environment.ts'
import { FORMAT_VERSION, OLDEST_FORMAT } from '../format-version.ts'
import { describeChange } from './describe-change.ts'
import { findLosses } from './find-losses.ts'
import { type PlannedChange, planMigration } from './plan-migration.ts'
import { migrateData } from './migrate-data.ts'
import type { Note } from '../../data/store-options.ts'
import type { Progress } from '../../base/progress.ts'
import { keepFingerprints } from '../fingerprints.ts'
import { layoutKey, type StoredLayout } from '../layouts.ts'
import { layoutFingerprint, type RowLayout, rowLayout } from '../../row-format/row-layout.ts'
import type { StoreOwner } from '../store-owner.ts'
import { loadSchema, readSchema, type Schema, type StoredSchema } from '../stored-schema.ts'

export interface PrepareOptions {
  environment: Environment
  /** Result of `checkModel`. */
  model: Model
  wire: WireOptions
  /** Table numbers that a new store begins with; by default those of a new model. */
  numbers?: TableNumbers | undefined
  /** Lets a changed model remove or break data that it does not allow. */
  allowLoss: boolean
  /** Compared in each transaction; undefined if no other process can write to the store. */
  owner?: Pick<StoreOwner, 'verify'>
  onProgress?: Progress
  /** Called with each change or loss, before it happens. */
  onNote?: Note
}

interface PreparedStore extends Schema {
  /** True when the store was empty. */
  created: boolean
}

/** Thrown when the model does not fit the data. */
class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/**
 * Brings a store, which only this process uses, to `model`. A crash at any point is safe: the next start first finishes a
 * migration that has begun.
 * @throws {MigrationError} listing everything that would be lost, unless `allowLoss`; or all impossible changes
 * @throws {ModelError} when a `tableNumber` of the model contradicts those of the store
 * @throws {Error} when the store has a format that this version does not read
 */
export function prepareStore(options: PrepareOptions): PreparedStore {
  const { environment } = options
  const { meta } = environment
  const format = meta.get('format') as number | undefined
  if (format !== undefined && format > FORMAT_VERSION) {
    throw new Error(
      `the store has format ${format}, which a newer version wrote; this one reads formats up to ${FORMAT_VERSION}`,
    )
  }
  if (format !== undefined && format < OLDEST_FORMAT) {
    throw new Error(`the store has format ${format}, of a version before the first release: load its data again`)
  }
  const created = format === undefined
  if (created) create(options)
  else {
    const pendingSchema = meta.get('migration') as StoredSchema | undefined
    if (pendingSchema) {
      options.onNote?.('a change of the model that was interrupted is finished')
      finish(options, pendingSchema)
    }
    change(options)
    raiseFormat(options, format)
  }
  return { ...loadSchema(environment), created }
}

/** Raises the format as the last step, so that an older version can still read a store that could not be brought to the model. */
function raiseFormat({ environment, owner }: PrepareOptions, format: number): void {
  if (format === FORMAT_VERSION) return
  environment.root.transactionSync(() => {
    owner?.verify()
    environment.meta.putSync('format', FORMAT_VERSION)
  })
}

function putSchema({ meta }: Environment, schema: StoredSchema): void {
  const { model, numbers, wire } = schema
  for (const [name, value] of Object.entries({ model, numbers, wire })) meta.putSync(name, value)
  for (const [{ tableNumber }, layout] of resolve(schema).layouts) {
    const storedLayout: StoredLayout = { version: layout.version, fingerprint: layoutFingerprint(layout) }
    meta.putSync(layoutKey(tableNumber), storedLayout)
  }
}

function resolve({ model, numbers, wire, versions }: StoredSchema): Schema {
  const catalog = buildCatalog(model, numbers, wire)
  return { catalog, layouts: new Map(catalog.dataClasses.map(dc => [dc, rowLayout(dc, versions[dc.name]!, wire)])) }
}

function create({ environment, model, wire, numbers: chosenNumbers, owner }: PrepareOptions): void {
  const numbers = assignNumbers(model, chosenNumbers)
  const versions = Object.fromEntries(Object.keys(numbers.dataClasses).map(name => [name, 1]))
  environment.root.transactionSync(() => {
    owner?.verify()
    environment.meta.putSync('format', FORMAT_VERSION)
    environment.meta.putSync('storeId', randomUUID())
    putSchema(environment, { model, numbers, wire, versions })
  })
}

/** Compares models and layouts, reads no rows. @returns undefined when the store has that model */
export function planChange(
  environment: Environment,
  { model, wire }: Pick<PrepareOptions, 'model' | 'wire'>,
): PlannedChange | undefined {
  const storedSchema = readSchema(environment)
  if (JSON.stringify([storedSchema.model, storedSchema.wire]) === JSON.stringify([model, wire])) return undefined
  const old = resolve(storedSchema)
  const numbers = assignNumbers(model, storedSchema.numbers)
  const catalog = buildCatalog(model, numbers, wire)
  const versions: Record<string, number> = Object.create(null)
  const addedClasses: DataClass[] = []
  for (const dataClass of catalog.dataClasses) {
    const before = old.catalog.dataClasses.find(({ tableNumber }) => tableNumber === dataClass.tableNumber)
    if (!before) addedClasses.push(dataClass)
    const version = before ? storedSchema.versions[before.name]! : 1
    // Version numbers have 16 bits and wrap around: versions of rows that no longer exist can be used again.
    const changes = before && readsDifferently(old.layouts.get(before)!, rowLayout(dataClass, version, wire))
    versions[dataClass.name] = changes ? (version % 0xffff) + 1 : version
  }
  const target: StoredSchema = { model, numbers, wire, versions }
  return { target, plan: planMigration(old, resolve(target)), addedClasses }
}

/**
 * Plans the change to a model, and searches for data that it would lose.
 * @returns undefined when the store has that model
 * @throws {MigrationError} see {@link prepareStore}
 */
export function checkedChange(
  environment: Environment,
  options: Pick<PrepareOptions, 'model' | 'wire' | 'allowLoss' | 'onProgress' | 'onNote'>,
): PlannedChange | undefined {
  const { allowLoss, onProgress, onNote = () => {} } = options
  const plannedChange = planChange(environment, options)
  if (!plannedChange) return undefined
  const { impossible, losses } = findLosses(environment, plannedChange.plan, onProgress)
  if (impossible.length > 0) throw new MigrationError(`the model does not fit the store:\n${list(impossible)}`)
  if (losses.length > 0 && !allowLoss) {
    throw new MigrationError(
      `the changed model would lose data:\n${list(losses)}\nChange the model or the data, or start with --allow-loss to accept all of this.`,
    )
  }
  for (const text of describeChange(environment, plannedChange)) onNote(`the store changes: ${text}`)
  for (const loss of losses) onNote(`data are lost, as storage.allowLoss permits: ${loss}`, 'warn')
  return plannedChange
}

function change(options: PrepareOptions): void {
  const plannedChange = checkedChange(options.environment, options)
  if (!plannedChange) return
  options.environment.meta.putSync('migration', plannedChange.target)
  finish(options, plannedChange.target)
}

/** Carries out the rest of a migration, whose steps can all be repeated. */
function finish({ environment, owner, onProgress = () => {} }: PrepareOptions, target: StoredSchema): void {
  const plan = planMigration(resolve(readSchema(environment)), resolve(target))
  migrateData({ environment, owner, onProgress }, plan)
  environment.root.transactionSync(() => {
    owner?.verify()
    for (const { after, keptPairs } of plan.changes) {
      keepFingerprints(environment, after, new Set(keptPairs.map(({ after: { name } }) => name)))
    }
    putSchema(environment, target)
    // Earlier log records do not continue to this state.
    environment.meta.putSync('schemaId', randomUUID())
    environment.meta.removeSync('migration')
  })
}

/** True if rows of `before` must be rewritten. The row ids in a row come from foreign keys, which its text does not name. */
function readsDifferently(before: RowLayout, after: RowLayout): boolean {
  const foreignKeys = (layout: RowLayout): string => layout.references.map(relation => relation.foreignKey.name).join()
  return layoutFingerprint(before) !== layoutFingerprint(after) || foreignKeys(before) !== foreignKeys(after)
}

const list = (lines: readonly string[]): string => lines.map(line => `  - ${line}`).join('\n')
