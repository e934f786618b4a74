/** Thrown for a model file that cannot be used, with all its problems. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  constructor(
    /** One sentence each: path in the file, what was found, what is expected. */
    readonly problems: readonly string[],
  ) {
    super(`the model cannot be used:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
  }
}
