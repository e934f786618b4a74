import { existsSync } from 'node:fs'
import { checkModel } from '../../catalog/check-model.ts'
import type { Catalog, DataClass, WireOptions } from '../../catalog/dataclass.ts'
import { loadModel } from '../../catalog/load-model.ts'
import { assignNumbers, type TableNumbers } from '../../catalog/table-numbers.ts'
import { checkLog } from './check-log.ts'
import { checkStore } from './check-store.ts'
import type { CheckProgress } from './check-table.ts'
import { DamagedLogError } from '../../log/commit-log.ts'
import { canReadDataFile, DATA_FILE, DamagedStoreError, DataFile } from '../data-file.ts'
import { type Environment, openEnvironment } from '../environment.ts'
import { FORMAT_VERSION, OLDEST_FORMAT } from '../format-version.ts'
import type { StoreLocation } from '../../data/store-options.ts'
import type { FileLock } from '../../base/file-lock.ts'
import { loadLayouts } from '../layouts.ts'
import { recoverIfUnused } from '../recover-store.ts'
import { examineFolder, type FolderState, unfinishedReason, unusable } from '../store-folder.ts'
import { lockForReading } from '../store-lock.ts'
import { isInUse } from '../store-owner.ts'
import { walkPages } from '../walk-pages.ts'
import { findLosses } from '../migration/find-losses.ts'
import { describeChange } from '../migration/describe-change.ts'
import { planMigration } from '../migration/plan-migration.ts'
import { planChange } from '../migration/prepare-store.ts'
import { type RowLayout, rowLayout } from '../../row-format/row-layout.ts'

export interface InspectOptions extends StoreLocation {
  /** Content of the model file that the store has to fit; if undefined, only the model in the store is used. */
  model: unknown
  wire: WireOptions
  /** True if losses by a changed model are not reported as problems. */
  allowLoss: boolean
  /** True if a folder without a store is a problem. */
  mustExist?: boolean
  /** Called with each change that a start would make to bring the store to the model. */
  onPlan?: (text: string, of?: 'databases') => void
  onCheckProgress?: (progress: InspectProgress) => void
}

export interface StoreProblem {
  /** Place of the problem: the store itself, or a model that it does not fit. */
  of: 'store' | 'model'
  text: string
}

/** Progress of a check, for a progress bar. */
export interface InspectProgress {
  what: string
  done: number
  total: number
}

/** Finds all problems of a store, in itself and in relation to the model. Changes nothing, and creates no store. */
export async function* inspectStore(options: InspectOptions): AsyncGenerator<StoreProblem> {
  const { path } = options
  const reason = unfinishedReason(options)
  if (reason !== undefined) {
    yield { of: 'store', text: reason }
    return
  }
  let state: FolderState
  try {
    // Data may be discarded only at a start, so this recovery has no permission to lose anything.
    await recoverIfUnused({ path, mapSizeBytes: options.mapSizeBytes }, () => {})
    state = examineFolder(path)
  } catch (error) {
    if (!(error instanceof DamagedStoreError || error instanceof DamagedLogError)) throw unusable(path, error)
    yield { of: 'store', text: error.message }
    return
  }
  if (state !== 'store') {
    const { mustExist, onPlan } = options
    onPlan?.(`a new one is made in ${path}`)
    if (mustExist) {
      const text = existsSync(path) ? 'there is no store in this folder' : 'there is no such folder'
      yield { of: 'store', text: `${text}, so none was checked; the first start makes one` }
    }
    return
  }
  const lock = lockUnlessReadOnly(path)
  if (!lock) {
    yield { of: 'store', text: 'it is being compacted; check it when that is done' }
    return
  }
  const environment = openEnvironment(options)
  try {
    const pages = damagedPages(environment, options)
    for (const text of pages) yield { of: 'store', text }
    if (pages.length === 0) yield* problemsOfStore(environment, options)
    else {
      const text = `its rows were not checked, because ${DATA_FILE} has damaged pages: put it back from a backup`
      yield { of: 'store', text }
    }
  } finally {
    await environment.close()
    lock.release()
  }
}

function lockUnlessReadOnly(path: string): Pick<FileLock, 'release'> | undefined {
  try {
    return lockForReading(path)
  } catch (error) {
    const cause = error instanceof Error && error.cause ? error.cause : error
    // A read-only store is not compacted either.
    if (['EROFS', 'EACCES', 'EPERM'].includes((cause as NodeJS.ErrnoException).code!)) return { release() {} }
    throw error
  }
}

/** Checks pages first: LMDB reads them without a check, and a damaged one would end this process. */
export function damagedPages(
  environment: Environment,
  { path, onCheckProgress }: Pick<InspectOptions, 'path' | 'onCheckProgress'>,
): string[] {
  if (!canReadDataFile) return []
  // Begins a read transaction, so that a running server does not reuse pages that are being checked.
  environment.root.resetReadTxn()
  environment.root.get('')
  const file = DataFile.in(path)
  try {
    return walkPages(file, file.meta(), {
      onProgress: ({ checkedPages, total }) => onCheckProgress?.({ what: 'pages', done: checkedPages, total }),
    })
  } finally {
    file.close()
  }
}

function* problemsOfStore(environment: Environment, options: InspectOptions): Generator<StoreProblem> {
  const { meta } = environment
  const format = meta.get('format') as number | undefined
  if (format === undefined) return
  if (format < OLDEST_FORMAT || format > FORMAT_VERSION) {
    const text = `it has format ${format}, this version reads formats ${OLDEST_FORMAT} to ${FORMAT_VERSION}`
    yield { of: 'store', text }
    return
  }
  if (meta.get('migration') !== undefined) {
    yield { of: 'store', text: 'a change of the model was interrupted; the next start finishes it' }
    return
  }
  let numbers: TableNumbers
  let catalog: Catalog
  let layouts: Map<DataClass, RowLayout>
  try {
    numbers = meta.get('numbers') as TableNumbers
    const wire = meta.get('wire') as WireOptions
    catalog = loadModel(meta.get('model'), numbers, wire)
    layouts = loadLayouts(environment, catalog, wire)
  } catch (error) {
    yield { of: 'store', text: `the model in it cannot be read, nor its rows: ${(error as Error).message}` }
    return
  }
  const { model, wire, allowLoss } = options
  if (model !== undefined) {
    const numberProblems = problemsOf(() => assignNumbers(checkModel(model), numbers))
    for (const text of numberProblems) yield { of: 'model', text }
    if (numberProblems.length === 0) {
      const { onPlan } = options
      const plannedChange = onPlan && planChange(environment, { model: checkModel(model), wire })
      for (const text of plannedChange ? describeChange(environment, plannedChange) : []) onPlan!(text)
      const next = loadModel(model, numbers, wire)
      // Versions only distinguish layouts of one dataclass; the plan does not depend on them.
      const nextLayouts = new Map(next.dataClasses.map(dataClass => [dataClass, rowLayout(dataClass, 1, wire)]))
      const plan = planMigration({ catalog, layouts }, { catalog: next, layouts: nextLayouts })
      const { impossible, losses } = findLosses(environment, plan)
      for (const problem of impossible) yield { of: 'model', text: `does not fit the store: ${problem}` }
      if (!allowLoss) for (const loss of losses) yield { of: 'model', text: `would lose data: ${loss}` }
    }
  }
  const progress = ({ dataClass, checkedRows, rowCount }: CheckProgress): void =>
    options.onCheckProgress?.({ what: dataClass, done: checkedRows, total: rowCount })
  for (const text of checkStore(environment, catalog, layouts, progress)) yield { of: 'store', text }
  // A server that uses the store goes on writing to its log.
  if (isInUse(environment)) return
  for (const text of checkLog(environment, layouts.values())) yield { of: 'store', text }
}

/** Problems listed by the error that `work` throws; none when it succeeds. */
export function problemsOf(work: () => void): readonly string[] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}
