/** `Person: 120000 of 1000000 (12 %), about 40 s left`. */
export function describeProgress(what: string, done: number, total: number, elapsedMs: number): string {
  const text = `${what}: ${done} of ${total}`
  if (done === 0 || total === 0) return text
  const leftSeconds = Math.ceil((elapsedMs * (total / done - 1)) / 1000)
  return `${text} (${Math.floor((100 * done) / total)} %), about ${leftSeconds} s left`
}
