/** Dates of the protocol. */

/** Parses a date without a time, `21!8!2026`, or an ISO time. */
export function parseDate(text: string): Date | undefined {
  const simple = /^(\d+)!(\d+)!(\d+)$/.exec(text)
  const date = simple ? new Date(Date.UTC(Number(simple[3]), Number(simple[2]) - 1, Number(simple[1]))) : new Date(text)
  if (simple) date.setUTCFullYear(Number(simple[3]))
  return Number.isNaN(date.getTime()) || text === '0!0!0' ? undefined : date
}
