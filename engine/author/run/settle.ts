const { then } = Promise.prototype

/** Like `await`, with fewer promises, and without code of the plugin that may have replaced `then`. */
export function settle(
  later: PromiseLike<unknown>,
  onResult: (result: unknown) => void,
  onError: (thrown: unknown) => void,
): void {
  let promise: Promise<unknown>
  try {
    promise = Promise.resolve(later)
  } catch (thrown) {
    promise = Promise.reject(thrown)
  }
  void Reflect.apply(then, promise, [onResult, onError])
}
