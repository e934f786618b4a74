/**
 * The problems that `check` finds. What is so damaged that reading it throws is one of them, and what comes after it is
 * checked all the same.
 */
export function* orUnreadable(where: string, check: Iterable<string>): Generator<string> {
  try {
    yield* check
  } catch (error) {
    yield `${where}: it cannot be read: ${(error as Error).message}`
  }
}
