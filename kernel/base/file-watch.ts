import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/**
 * Reports changes of files by polling: certbot and Kubernetes replace links on the path to them, which a watch on the files does not
 * notice. A change is reported when the files are the same in two successive polls, since they may be written one after the other.
 */
export class FileWatch {
  readonly #files: readonly string[]
  readonly #onChange: () => void
  readonly #timer: NodeJS.Timeout
  /** State of the files at the last poll, and the state that the owner knows. */
  #seen: string
  #known: string
  #isClosed = false

  /** @param lookMs interval between polls */
  constructor(files: readonly string[], onChange: () => void, lookMs: number) {
    this.#files = files
    this.#onChange = onChange
    this.#known = files.map(file => stateOf(statSync(file, { throwIfNoEntry: false }))).join(' ')
    this.#seen = this.#known
    this.#timer = setInterval(() => void this.#look(), lookMs).unref()
  }

  /** Takes the present state as known; to be called before the owner itself reads the files. */
  async note(): Promise<void> {
    this.#known = await this.#state()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const state = await this.#state()
    const isStill = state === this.#seen
    this.#seen = state
    if (this.#isClosed || !isStill || state === this.#known) return
    this.#known = state
    this.#onChange()
  }

  async #state(): Promise<string> {
    const states = await Promise.all(this.#files.map(file => stat(file).then(stateOf, () => stateOf(undefined))))
    return states.join(' ')
  }
}

const stateOf = (stats: Stats | undefined): string =>
  stats ? [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join() : 'none'
