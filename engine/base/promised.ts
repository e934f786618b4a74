/** A value that is available immediately if it was cheap, otherwise as soon as a pool thread has computed it. */
export type Promised<T> = T | Promise<T>

/** Copies bytes, so that they stay valid across an `await`; other values stay valid anyway. */
export const copyBytes = <Other>(bytes: Promised<Uint8Array | Other>): Promised<Uint8Array | Other> =>
  bytes instanceof Uint8Array ? bytes.slice() : bytes

/** True for a promise of any library. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
