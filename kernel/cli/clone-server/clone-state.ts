import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { CLONE_FILES } from '../../main.ts'
import type { DraftModel } from '../draft-model.ts'
import type { ClonePlan } from './class-plan.ts'

/** An unfinished clone. The store itself shows which entities have been copied, since it has the stamps of the source. */
export interface CloneState {
  readonly server: string
  /** Digest of the catalog of the server when the clone began. */
  readonly catalog: string
  readonly plan: ClonePlan
  /** Model of the finished store; set once all entities have been copied and the store is being migrated to it. */
  readonly finished?: DraftModel
}

/** File with the state of a clone, in the folder of the store. */
export class StateFile {
  private readonly path: string

  constructor(private readonly folder: string) {
    this.path = join(folder, CLONE_FILES.server)
  }

  /** @throws {Error} there is nothing to resume, or it is the copy of another server */
  resume(server: string): CloneState {
    const state = this.read()
    if (!state) throw new Error(`there is nothing to resume: no clone into ${this.folder} was interrupted`)
    if (state.server !== server)
      throw new Error(`the interrupted clone into ${this.folder} is of ${state.server}, not of ${server}`)
    return state
  }

  /** @throws {Error} the folder is in use */
  refuseExisting(): void {
    const { folder } = this
    const state = this.read()
    if (state)
      throw new Error(
        `a clone of ${state.server} into ${folder} was interrupted: --resume continues it; to begin again, remove the folder or name another one`,
      )
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new Error(`${folder} is not empty; a clone needs an empty folder`)
  }

  write(state: CloneState): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    const unfinishedPath = `${this.path}.part`
    const descriptor = openSync(unfinishedPath, 'w', 0o600)
    try {
      writeSync(descriptor, JSON.stringify(state))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(unfinishedPath, this.path)
  }

  remove(): void {
    rmSync(this.path, { force: true })
  }

  private read(): CloneState | undefined {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as CloneState
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}
