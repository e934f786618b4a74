import type { RecordChange, ServerRecords } from '../../../engine/index.ts'

/** Records of the server without a store. Values are copied as JSON, like those of a store. */
export class MemoryRecords {
  readonly values = new Map<string, string>()
  /** Awaited before changes are made: stands for a slow or failing writer. */
  beforePut: () => Promise<void> = async () => {}

  get = (key: string): unknown => {
    const text = this.values.get(key)
    return text === undefined ? undefined : JSON.parse(text)
  }

  list = (prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] =>
    [...this.values.keys()]
      .filter(key => key.startsWith(prefix) && key > after)
      .sort()
      .slice(0, limit)
      .map(key => ({ key, value: this.get(key) }))

  put = async (changes: RecordChange[]): Promise<void> => {
    await this.beforePut()
    for (const { key, value } of changes) {
      if (value === undefined) this.values.delete(key)
      else this.values.set(key, JSON.stringify(value))
    }
  }

  /** Keys that begin with a prefix. */
  keys(prefix: string): string[] {
    return this.list(prefix, Number.MAX_SAFE_INTEGER).map(({ key }) => key)
  }

  get asServerRecords(): ServerRecords {
    return this as unknown as ServerRecords
  }
}
