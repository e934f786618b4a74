import type { RecordStore } from '../data/record-store.ts'
import type { StoredSets } from '../data/stored-sets.ts'
import { type EntitySetHeader, setsOf } from './entity-set-header.ts'

/**
 * Number of sets of each creator. Counted from the store on first use, including sets from before a restart; then kept up to
 * date.
 */
export class SetCounts {
  private counts: Map<string, number> | undefined

  private readonly sets: StoredSets<EntitySetHeader>

  constructor(store: Pick<RecordStore, 'sets'>) {
    this.sets = setsOf(store)
  }

  of(creator: string): number {
    this.counts ??= this.read()
    return this.counts.get(creator) ?? 0
  }

  /** @param by 1: a set was created; -1: a set has ended */
  add(creator: string, by: 1 | -1): void {
    // Not counted yet: the first count reads the stored state.
    if (!this.counts) return
    const count = this.of(creator) + by
    if (count > 0) this.counts.set(creator, count)
    else this.counts.delete(creator)
  }

  private read(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { header } of this.sets.headers()) {
      if (header.hasEnded || header.creator === undefined) continue
      counts.set(header.creator, (counts.get(header.creator) ?? 0) + 1)
    }
    return counts
  }
}
