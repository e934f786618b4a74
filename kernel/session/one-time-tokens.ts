import { MAX_TOKENS, type RecordChange, type ServerRecords, TOKEN_PREFIX } from '../../engine/index.ts'
import { recordSlices } from '../base/record-slices.ts'
import type { Session, SessionRecord } from './session.ts'
import { handleOf, randomId } from './session-id.ts'

interface Entry {
  /** Handle of the session. */
  readonly session: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

const ALIAS_PREFIX = 'alias/'
/** Further ids of a session; the oldest go. */
const MAX_ALIASES = 32

/**
 * Secrets by which another client takes a session over, once, and the further ids that the session has from then on. Both
 * are stored under their hashes, which the record of the session lists: they are bounded for each session and end with it.
 * Source: protocol notes, 8.5.
 */
export class OneTimeTokens {
  /** Used up, until that is durable. */
  private readonly used = new Set<string>()

  /** @param now milliseconds since 1970 */
  constructor(
    private readonly records: ServerRecords,
    private readonly now: () => number,
  ) {}

  /** Adds a token to the record of a session. @returns what has to be stored with the record */
  create({ handle, record }: Session, hash: string, seconds: number): RecordChange[] {
    const entry: Entry = { session: handle, expires: Math.min(this.now() + seconds * 1000, record.endsAt) }
    const { list, gone } = appended(record.tokens, hash, MAX_TOKENS)
    record.tokens = list
    return [{ key: TOKEN_PREFIX + hash, value: entry }, ...removals(TOKEN_PREFIX, gone)]
  }

  /**
   * Uses a token up. Resolves when that is durable, so that it is not valid again after a restart.
   * @returns the handle of its session, undefined when it is not valid
   */
  async redeem(hash: string): Promise<string | undefined> {
    const key = TOKEN_PREFIX + hash
    const entry = this.records.get(key) as Entry | undefined
    if (!entry || entry.expires <= this.now() || this.used.has(key)) return undefined
    this.used.add(key)
    try {
      await this.records.put([{ key, value: undefined }])
    } finally {
      this.used.delete(key)
    }
    return entry.session
  }

  /** Adds another id to the record of a session. @returns the id, and what has to be stored with the record */
  createAlias({ handle, record }: Session): { id: string; changes: RecordChange[] } {
    const id = randomId()
    const entry: Entry = { session: handle, expires: record.endsAt }
    const { list, gone } = appended(record.aliases, handleOf(id), MAX_ALIASES)
    record.aliases = list
    const changes = [{ key: ALIAS_PREFIX + handleOf(id), value: entry }, ...removals(ALIAS_PREFIX, gone)]
    return { id, changes }
  }

  /** Handle of the session of which `hash` is that of a further id. */
  sessionOf(hash: string): string | undefined {
    const entry = this.records.get(ALIAS_PREFIX + hash) as Entry | undefined
    return entry && entry.expires > this.now() ? entry.session : undefined
  }

  /** Records to be stored when a session ends. */
  removalsOf({ tokens = [], aliases = [] }: SessionRecord): RecordChange[] {
    return [...removals(TOKEN_PREFIX, tokens), ...removals(ALIAS_PREFIX, aliases)]
  }

  /** Removes what has expired, a slice at a time. */
  async sweep(): Promise<void> {
    for (const prefix of [TOKEN_PREFIX, ALIAS_PREFIX]) {
      for (const slice of recordSlices(this.records, prefix)) {
        const expired = slice.filter(({ value }) => (value as Entry).expires <= this.now())
        await this.records.put(expired.map(({ key }) => ({ key, value: undefined })))
      }
    }
  }
}

/** A list with one more element, and its oldest elements beyond `limit`. */
function appended(list: readonly string[] = [], element: string, limit: number): { list: string[]; gone: string[] } {
  const all = [...list, element]
  return { list: all.slice(-limit), gone: all.slice(0, -limit) }
}

const removals = (prefix: string, hashes: readonly string[]): RecordChange[] =>
  hashes.map(hash => ({ key: prefix + hash, value: undefined }))
