/** A configuration that cannot be used, with all its problems. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(
    /** One sentence each: source, received value, expected value. */
    readonly problems: readonly string[],
  ) {
    super(`the configuration cannot be used:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
  }
}
