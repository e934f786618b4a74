/** Yields the problems that `check` finds. If damage makes it throw, that is one of them, and later checks still run. */
export function* orUnreadable(where: string, check: Iterable<string>): Generator<string> {
  try {
    yield* check
  } catch (error) {
    yield `${where}: it cannot be read: ${(error as Error).message}`
  }
}
