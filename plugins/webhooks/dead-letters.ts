import type { PluginEngine } from '../../kernel/api.ts'

type Records = ReturnType<PluginEngine['pluginRecords']>
export type RecordChanges = Parameters<Records['put']>[0]

/** An event that was given up. */
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

/** A letter that is kept, without its body. */
interface Kept {
  readonly record: string
  readonly bytes: number
  readonly letter: Omit<DeadLetter, 'body'>
}

/** Letters of a hook beyond this size are removed, however few. */
const MAX_BYTES = 64 * 2 ** 20
/** Letters that are read at once. */
const PAGE = 20

/** The events of one hook that were given up, in the records of the plugin. */
export class DeadLetters {
  private readonly kept = new Map<string, Kept>()
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
    return this.kept.size
  }

  /** The letters without their bodies, the oldest event first. */
  list(): readonly Omit<DeadLetter, 'body'>[] {
    return [...this.kept.values()].map(({ letter }) => letter)
  }

  get(id: string): DeadLetter | undefined {
    const kept = this.kept.get(id)
    return kept && (this.records.get(kept.record) as DeadLetter | undefined)
  }

  /** Adds a letter, or replaces one. @param besides written in the same commit */
  async put(letter: DeadLetter, order: string, besides: RecordChanges = []): Promise<void> {
    const known = this.kept.get(letter.id)
    const record = known?.record ?? `${this.prefix}${order}`
    const removed = this.limit === 0 ? [] : this.excess(letter)
    const changes =
      this.limit === 0 ? [] : [{ key: record, value: letter }, ...removed.map(key => ({ key, value: undefined }))]
    await this.records.put([...changes, ...besides])
    if (this.limit > 0) this.note(record, letter)
    for (const kept of [...this.kept.values()]) if (removed.includes(kept.record)) this.forget(kept.letter.id)
  }

  async remove(id: string): Promise<void> {
    const kept = this.kept.get(id)
    if (!kept) return
    await this.records.put([{ key: kept.record, value: undefined }])
    this.forget(id)
  }

  /** Records of the oldest letters, for which there is no room beside another one. */
  private excess(letter: DeadLetter): string[] {
    const others = [...this.kept.values()].filter(kept => kept.letter.id !== letter.id)
    let count = others.length + 1
    let bytes = sizeOf(letter) + others.reduce((sum, kept) => sum + kept.bytes, 0)
    const removed: string[] = []
    for (const kept of others) {
      if (count <= this.limit && bytes <= MAX_BYTES) break
      removed.push(kept.record)
      count--
      bytes -= kept.bytes
    }
    return removed
  }

  private note(record: string, { body, ...letter }: DeadLetter): void {
    this.forget(letter.id)
    const bytes = sizeOf({ ...letter, body })
    this.kept.set(letter.id, { record, bytes, letter })
  }

  private forget(id: string): void {
    this.kept.delete(id)
  }
}

const sizeOf = ({ body, key, reason }: DeadLetter): number => (body?.length ?? 0) + key.length + reason.length + 200
