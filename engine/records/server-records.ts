import type { RecordChange, RecordStore } from '../data/record-store.ts'

/**
 * Small JSON records of the server itself: sessions, its own secrets. A key begins with the name of its owner and a slash.
 */
export class ServerRecords {
  constructor(
    private readonly store: RecordStore,
    private readonly write: (changes: RecordChange[]) => Promise<unknown>,
  ) {}

  get(key: string): unknown {
    this.store.refresh()
    return this.store.record(key)
  }

  /** Records whose keys begin with `prefix`, in key order. @param after leaves out records up to this key, inclusive */
  list(prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] {
    this.store.refresh()
    return this.store.records(prefix, limit, after)
  }

  /** The last records whose keys begin with `prefix`, in reverse order. */
  last(prefix: string, limit: number): { key: string; value: unknown }[] {
    this.store.refresh()
    return this.store.lastRecords(prefix, limit)
  }

  /** Writes changes. Resolves when they are durable. */
  async put(changes: RecordChange[]): Promise<void> {
    if (changes.length > 0) await this.write(changes)
  }
}
