/** Time and random numbers, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `run` later. @returns a function that cancels the call */
  after(ms: number, run: () => void): () => void
  /** At least 0, less than 1. */
  random(): number
}

export const systemClock = (now: () => number): Clock => ({
  now,
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
  random: Math.random,
})
