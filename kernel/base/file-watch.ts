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
  /** The early look that has begun last, and the one that waits for it. */
  #lastLook = Promise.resolve()
  #nextLook: Promise<void> | undefined

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

  /**
   * Reads changed files without waiting for two equal polls, for an owner that misses something that they may contain by now. Only one
   * look is under way: callers who come meanwhile share the next.
   * @param read throws if the files are not complete yet: the next polls report them
   */
  readEarly(read: () => void): Promise<void> {
    this.#nextLook ??= this.#lastLook.then(() => {
      this.#lastLook = this.#nextLook!
      this.#nextLook = undefined
      return this.#readIfChanged(read)
    })
    return this.#nextLook
  }

  async #readIfChanged(read: () => void): Promise<void> {
    const state = await this.#state()
    if (this.#isClosed || state === this.#known) return
    try {
      read()
      this.#known = state
    } catch {
      // Reported after the polls, if it is still so.
    }
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
