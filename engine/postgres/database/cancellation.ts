import type { Caller } from '../../caller/caller.ts'

/** An `AbortSignal`, or a cheaper object with the same methods. */
export interface Cancellation {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Aborts when a caller stops waiting. Creating an `AbortSignal` takes longer than reading a small row. */
export class CallerCancellation implements Cancellation {
  private readonly listeners = new Set<() => void>()
  aborted = false

  constructor(caller: Caller | undefined) {
    caller?.onAborted(() => {
      this.aborted = true
      for (const listener of this.listeners) listener()
    })
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.listeners.delete(listener)
  }
}
