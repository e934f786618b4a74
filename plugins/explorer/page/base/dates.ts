/** Dates of the protocol. */

/** Parses a date as servers write it: without a time, `21!8!2026` or `2026-08-21`, or an ISO time in UTC. */
export function parseDate(text: string): Date | undefined {
  const simple = /^(\d+)!(\d+)!(\d+)$/.exec(text)
  const date = simple ? new Date(Date.UTC(Number(simple[3]), Number(simple[2]) - 1, Number(simple[1]))) : new Date(text)
  if (simple) date.setUTCFullYear(Number(simple[3]))
  return Number.isNaN(date.getTime()) || text === '0!0!0' ? undefined : date
}

/** A day in either form of the protocol as `2026-08-21`; other texts as they are. */
export const dayText = (text: string): string => parseDate(text)?.toISOString().split('T')[0] ?? text
