import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/**
 * Tells when files have changed, by looking at them every few moments: certbot and Kubernetes replace links on the way to them, of
 * which a watch on the files reports nothing. A change counts when the files did not change between two looks, since they may
 * be written one after the other.
 */
export class FileWatch {
  readonly #files: readonly string[]
  readonly #onChange: () => void
  readonly #timer: NodeJS.Timeout
  /** State of the files when they were looked at last, and the one that is known to the owner. */
  #seen: string
  #known: string
  #isClosed = false

  /** @param lookMs time between two looks */
  constructor(files: readonly string[], onChange: () => void, lookMs: number) {
    this.#files = files
    this.#onChange = onChange
    this.#known = files.map(file => stateOf(statSync(file, { throwIfNoEntry: false }))).join(' ')
    this.#seen = this.#known
    this.#timer = setInterval(() => void this.#look(), lookMs).unref()
  }

  /** Takes the present state as known, before the owner reads the files by itself. */
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
