import type { Environment } from '../storage/environment.ts'
import { listHeaders } from './entity-set-table.ts'

/**
 * How many sets each creator has. Counted from the store when somebody asks for the first time, so that sets of before a
 * restart count too; then kept up to date.
 */
export class SetCounts {
  private counts: Map<string, number> | undefined

  constructor(private readonly environment: Environment) {}

  of(creator: string): number {
    this.counts ??= this.read()
    return this.counts.get(creator) ?? 0
  }

  /** @param by 1: a set has been made; -1: one has ended */
  add(creator: string, by: 1 | -1): void {
    // Who asks later reads what is stored.
    if (!this.counts) return
    const count = this.of(creator) + by
    if (count > 0) this.counts.set(creator, count)
    else this.counts.delete(creator)
  }

  private read(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { header } of listHeaders(this.environment)) {
      if (header.hasEnded || header.creator === undefined) continue
      counts.set(header.creator, (counts.get(header.creator) ?? 0) + 1)
    }
    return counts
  }
}
