/** Describes progress: `Person: 120000 of 1000000 (12 %), about 40 s left`. */
export function describeProgress(what: string, count: number, total: number, elapsedMs: number): string {
  const text = `${what}: ${count} of ${total}`
  if (count === 0 || total === 0) return text
  const leftSeconds = Math.ceil((elapsedMs * (total / count - 1)) / 1000)
  return `${text} (${Math.floor((100 * count) / total)} %), about ${leftSeconds} s left`
}
