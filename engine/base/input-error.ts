/** Options, a file or a request that cannot be used as they are: another try with the same ones changes nothing. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
