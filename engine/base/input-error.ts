/** Error for options, a file or a request that cannot be used as they are: a retry with the same input would fail again. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
