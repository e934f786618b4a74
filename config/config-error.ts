/** A configuration that cannot be used, with everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(
    /** One sentence each: where it comes from, what was received, what is expected. */
    readonly problems: readonly string[],
  ) {
    super(`the configuration cannot be used:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
  }
}
