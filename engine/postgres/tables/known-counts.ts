/** Maximum number of statements. */
const MAX_COUNTS = 1_000

/**
 * Results of statements that count rows, each with the state of the database for which it is valid: until a transaction ends, the rows need
 * not be counted again.
 */
export class KnownCounts {
  private readonly counts = new Map<string, { readonly state: string; readonly count: number }>()

  find(statement: string, state: string): number | undefined {
    const entry = this.counts.get(statement)
    return entry?.state === state ? entry.count : undefined
  }

  put(statement: string, state: string, count: number): void {
    this.counts.delete(statement)
    this.counts.set(statement, { state, count })
    if (this.counts.size > MAX_COUNTS) this.counts.delete(this.counts.keys().next().value!)
  }
}
