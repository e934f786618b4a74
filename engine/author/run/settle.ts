const { then } = Promise.prototype

/** Like `await`, but with fewer promises, and without running plugin code that may have replaced `then`. */
export function settle(
  later: PromiseLike<unknown>,
  onResult: (result: unknown) => void,
  onError: (exception: unknown) => void,
): void {
  let promise: Promise<unknown>
  try {
    promise = Promise.resolve(later)
  } catch (exception) {
    promise = Promise.reject(exception)
  }
  void Reflect.apply(then, promise, [onResult, onError])
}
