import type { Environment } from '../storage/environment.ts'
import type { RecordChange } from '../write/requests.ts'

/**
 * Small JSON records that the server keeps for itself beside the entities: sessions, secrets of its own. A key begins with
 * the name of its owner and a slash.
 */
export class ServerRecords {
  constructor(
    private readonly environment: Environment,
    private readonly write: (changes: RecordChange[]) => Promise<unknown>,
  ) {}

  get(key: string): unknown {
    this.environment.root.resetReadTxn()
    return this.environment.records.get(key)
  }

  /** Records whose keys begin with `prefix`, in order of their keys. @param after leaves out those up to this key */
  list(prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] {
    this.environment.root.resetReadTxn()
    const range = { start: after, end: `${prefix}\u{10ffff}`, limit: limit + 1 }
    const found = [...this.environment.records.getRange(range)]
    return found.filter(({ key }) => key > after).slice(0, limit)
  }

  /** Resolves when it is durable. */
  async put(changes: RecordChange[]): Promise<void> {
    if (changes.length > 0) await this.write(changes)
  }
}
