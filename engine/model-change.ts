import type { ClassDescriptor } from './author/declare/describe-classes.ts'
import { calculatedDeclarations } from './author/hooks/hooked-classes.ts'
import { addCalculated } from './catalog/add-calculated.ts'
import { addPlaces } from './catalog/add-places.ts'
import { checkModel } from './catalog/check-model.ts'
import type { EngineOptions } from './engine-options.ts'
import { type ProcessEvents, type Processes, runProcess } from './run-process.ts'
import { CopyFolder } from './storage/migration/beside/copy-folder.ts'

type Events = Omit<ProcessEvents<Processes['migration']['step']>, 'signal'>

/**
 * Changes of the model while the server keeps running: a separate process migrates a copy of the store to the current model of the file,
 * and the next start with that model uses the copy.
 */
export class ModelChange {
  private readonly folder: CopyFolder
  private job: { readonly outcome: Promise<unknown>; readonly stop: AbortController } | undefined

  constructor(
    private readonly options: EngineOptions,
    private readonly classes: readonly ClassDescriptor[],
  ) {
    this.folder = new CopyFolder(options.path)
  }

  /** The copy that a process has begun and that no start has taken; undefined if there is none. */
  get begun(): { readonly allowLoss: boolean } | undefined {
    return this.folder.description
  }

  /**
   * Creates the copy, or continues it, and resolves when it is ready. Only one call at a time.
   * @param allowLoss lets the changed model remove or break data that it no longer allows
   * @returns false if the server already has this model
   * @throws {ModelError} {@link MigrationError} the model does not fit the data, with all reasons
   */
  async run(allowLoss: boolean, events: Events): Promise<boolean> {
    const { path, mapSizeBytes, wire, lock, readModel, backends = [] } = this.options
    if (lock?.kind === 'lease') throw new Error('a store that is held by a lease is changed by the start alone')
    const calculatedModel = addCalculated(readModel!(), calculatedDeclarations(this.classes))
    const model = checkModel(addPlaces(calculatedModel, backends))
    const stop = new AbortController()
    const outcome = runProcess(
      'migration',
      { path, mapSizeBytes, model, wire, allowLoss },
      { ...events, signal: stop.signal },
    )
    this.job = { outcome, stop }
    try {
      return await outcome
    } finally {
      this.job = undefined
    }
  }

  /** Ends the process and removes the copy. */
  async discard(): Promise<void> {
    await this.close()
    this.folder.clear()
  }

  /** Ends the process. The copy stays, so that the next server continues it. */
  async close(): Promise<void> {
    this.job?.stop.abort()
    await Promise.allSettled([this.job?.outcome])
  }
}
