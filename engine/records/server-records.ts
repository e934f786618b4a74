import type { RecordChange, RecordStore } from '../data/record-store.ts'

/** Small JSON records of a plugin, in the store and its backups. */
export type PluginRecords = Pick<ServerRecords, 'get' | 'list' | 'put'>

/**
 * Small JSON records of the server itself: sessions, its own secrets. A key begins with the name of its owner and a slash.
 */
export class ServerRecords {
  constructor(
    private readonly store: RecordStore,
    private readonly write: (changes: RecordChange[]) => Promise<unknown>,
  ) {}

  /** A view of the records whose keys begin with `prefix`, which hides all other records. */
  within(prefix: string): PluginRecords {
    return {
      get: key => this.get(prefix + key),
      list: (start, limit, after = start) =>
        this.list(prefix + start, limit, prefix + after).map(({ key, value }) => ({
          key: key.slice(prefix.length),
          value,
        })),
      put: changes => this.put(changes.map(({ key, value }) => ({ key: prefix + key, value }))),
    }
  }

  get(key: string): unknown {
    this.store.refresh()
    return this.store.record(key)
  }

  /** Records whose keys begin with `prefix`, in key order. @param after skips records up to and including this key */
  list(prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] {
    this.store.refresh()
    return this.store.records(prefix, limit, after)
  }

  /** Numbers of the records whose keys begin with each prefix, in one state of the store. @param limit of each number */
  counts(prefixes: readonly string[], limit: number): number[] {
    this.store.refresh()
    return prefixes.map(prefix => this.store.records(prefix, limit).length)
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
