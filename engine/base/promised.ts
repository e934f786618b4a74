/** At once when it was cheap, else as soon as a thread of the pool has done it. */
export type Promised<T> = T | Promise<T>

/** Bytes that stay valid across an `await`. Whatever else there is does. */
export const kept = <Other>(bytes: Promised<Uint8Array | Other>): Promised<Uint8Array | Other> =>
  bytes instanceof Uint8Array ? bytes.slice() : bytes

/** Whether something is a promise, of whatever library. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
