import type { HookOptions } from './options.ts'

/**
 * Time to the next attempt, in milliseconds: twice as long each time up to a maximum, and between half of it and all of it, so that
 * events that failed together do not come back together.
 * @param attempts number of attempts that have failed @param random at least 0, less than 1
 */
export function retryDelay(
  { firstRetrySeconds, maxRetrySeconds }: Pick<HookOptions, 'firstRetrySeconds' | 'maxRetrySeconds'>,
  attempts: number,
  random: number,
): number {
  const seconds = Math.min(maxRetrySeconds, firstRetrySeconds * 2 ** Math.min(attempts - 1, 32))
  return 1000 * seconds * (0.5 + random / 2)
}
