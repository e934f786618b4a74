import type { PluginEngine } from '../../kernel/api.ts'

type Records = ReturnType<PluginEngine['pluginRecords']>
export type RecordChanges = Parameters<Records['put']>[0]

/** An event whose delivery was abandoned. */
export interface DeadLetter {
  /** `webhook-id`. */
  readonly id: string
  /** `Ticket.updated`. */
  readonly type: string
  /** `__KEY` of the entity. */
  readonly key: string
  /** Times in milliseconds since 1970: of the commit, and of the last attempt. */
  readonly time: number
  readonly givenUp: number
  readonly attempts: number
  readonly reason: string
  /** The body; null for an event that could not be read. */
  readonly body: string | null
}

/** A stored letter, without its body. */
interface Kept {
  readonly record: string
  readonly bytes: number
  readonly letter: Omit<DeadLetter, 'body'>
}

/** Maximum size of the letters of a hook. Beyond it the oldest are removed, however few remain. */
const MAX_BYTES = 64 * 2 ** 20
/** Number of letters that are read at a time. */
const PAGE = 20

/** Events of one hook whose delivery was abandoned, in the records of the plugin. */
export class DeadLetters {
  private readonly entries = new Map<string, Kept>()
  private readonly prefix: string

  constructor(
    private readonly records: Records,
    hook: string,
    private readonly limit: number,
  ) {
    this.prefix = `dead/${hook}/`
    for (let after = this.prefix; ; ) {
      const page = records.list(this.prefix, PAGE, after)
      for (const { key, value } of page) this.note(key, value as DeadLetter)
      if (page.length < PAGE) break
      after = page.at(-1)!.key
    }
  }

  get size(): number {
    return this.entries.size
  }

  /** The letters without their bodies, the oldest event first. */
  list(): readonly Omit<DeadLetter, 'body'>[] {
    return [...this.entries.values()].map(({ letter }) => letter)
  }

  get(id: string): DeadLetter | undefined {
    const entry = this.entries.get(id)
    return entry && (this.records.get(entry.record) as DeadLetter | undefined)
  }

  /** Adds a letter, or replaces one. @param besides written in the same commit */
  async put(letter: DeadLetter, order: string, besides: RecordChanges = []): Promise<void> {
    const knownEntry = this.entries.get(letter.id)
    const record = knownEntry?.record ?? `${this.prefix}${order}`
    const removedRecords = this.limit === 0 ? [] : this.excess(letter)
    const changes =
      this.limit === 0
        ? []
        : [{ key: record, value: letter }, ...removedRecords.map(key => ({ key, value: undefined }))]
    await this.records.put([...changes, ...besides])
    if (this.limit > 0) this.note(record, letter)
    for (const entry of [...this.entries.values()])
      if (removedRecords.includes(entry.record)) this.forget(entry.letter.id)
  }

  async remove(id: string): Promise<void> {
    const entry = this.entries.get(id)
    if (!entry) return
    await this.records.put([{ key: entry.record, value: undefined }])
    this.forget(id)
  }

  /** Records of the oldest letters, which have to be removed to make room for another letter. */
  private excess(letter: DeadLetter): string[] {
    const otherEntries = [...this.entries.values()].filter(entry => entry.letter.id !== letter.id)
    let count = otherEntries.length + 1
    let bytes = sizeOf(letter) + otherEntries.reduce((sum, entry) => sum + entry.bytes, 0)
    const excessRecords: string[] = []
    for (const entry of otherEntries) {
      if (count <= this.limit && bytes <= MAX_BYTES) break
      excessRecords.push(entry.record)
      count--
      bytes -= entry.bytes
    }
    return excessRecords
  }

  private note(record: string, { body, ...letter }: DeadLetter): void {
    this.forget(letter.id)
    const bytes = sizeOf({ ...letter, body })
    this.entries.set(letter.id, { record, bytes, letter })
  }

  private forget(id: string): void {
    this.entries.delete(id)
  }
}

const sizeOf = ({ body, key, reason }: DeadLetter): number => (body?.length ?? 0) + key.length + reason.length + 200
