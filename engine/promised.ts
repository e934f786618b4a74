/** At once when it was cheap, else as soon as a thread of the pool has done it. */
export type Promised<T> = T | Promise<T>

/** Bytes that stay valid across an `await`. */
export const kept = (bytes: Promised<Uint8Array>): Promised<Uint8Array> =>
  bytes instanceof Promise ? bytes : bytes.slice()
