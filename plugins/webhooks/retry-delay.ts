import type { HookOptions } from './options.ts'

/**
 * Time to the next attempt, in milliseconds: doubled each time up to a maximum, and randomly reduced by up to half, so that events that
 * failed together are not sent again together.
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
