import type { RecordChange, RecordStore } from '../data/record-store.ts'

/**
 * Small JSON records that the server keeps for itself beside the entities: sessions, secrets of its own. A key begins with
 * the name of its owner and a slash.
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

  /** Records whose keys begin with `prefix`, in order of their keys. @param after leaves out those up to this key */
  list(prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] {
    this.store.refresh()
    return this.store.records(prefix, limit, after)
  }

  /** Resolves when it is durable. */
  async put(changes: RecordChange[]): Promise<void> {
    if (changes.length > 0) await this.write(changes)
  }
}
