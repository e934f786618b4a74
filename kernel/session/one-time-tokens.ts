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
/** Maximum number of further ids of a session; the oldest are dropped. */
const MAX_ALIASES = 32

/**
 * One-time secrets by which another client takes over a session, and the further ids (aliases) that the session then has. Both
 * are stored under their hashes, which the record of the session lists: their number is bounded per session, and they end with it.
 * Source: protocol notes, 8.5.
 */
export class OneTimeTokens {
  /** Used tokens whose use is not yet durable. */
  private readonly usedTokens = new Set<string>()

  /** @param now milliseconds since 1970 */
  constructor(
    private readonly records: ServerRecords,
    private readonly now: () => number,
  ) {}

  /** Adds a token to the record of a session. @returns changes to be stored with the record */
  create({ handle, record }: Session, hash: string, seconds: number): RecordChange[] {
    const entry: Entry = { session: handle, expires: Math.min(this.now() + seconds * 1000, record.endsAt) }
    const { list, surplus: oldTokens } = appendElement(record.tokens, hash, MAX_TOKENS)
    record.tokens = list
    return [{ key: TOKEN_PREFIX + hash, value: entry }, ...removals(TOKEN_PREFIX, oldTokens)]
  }

  /**
   * Uses up a token. Resolves when that is durable, so that the token is not valid again after a restart.
   * @returns the handle of its session, undefined when it is not valid
   */
  async redeem(hash: string): Promise<string | undefined> {
    const key = TOKEN_PREFIX + hash
    const entry = this.records.get(key) as Entry | undefined
    if (!entry || entry.expires <= this.now() || this.usedTokens.has(key)) return undefined
    this.usedTokens.add(key)
    try {
      await this.records.put([{ key, value: undefined }])
    } finally {
      this.usedTokens.delete(key)
    }
    return entry.session
  }

  /** Adds an alias to the record of a session. @returns the id, and changes to be stored with the record */
  createAlias({ handle, record }: Session): { id: string; changes: RecordChange[] } {
    const id = randomId()
    const entry: Entry = { session: handle, expires: record.endsAt }
    const { list, surplus: oldAliases } = appendElement(record.aliases, handleOf(id), MAX_ALIASES)
    record.aliases = list
    const changes = [{ key: ALIAS_PREFIX + handleOf(id), value: entry }, ...removals(ALIAS_PREFIX, oldAliases)]
    return { id, changes }
  }

  /** Handle of the session that has an alias with this hash. */
  sessionOf(hash: string): string | undefined {
    const entry = this.records.get(ALIAS_PREFIX + hash) as Entry | undefined
    return entry && entry.expires > this.now() ? entry.session : undefined
  }

  /** Changes to be stored when a session ends. */
  removalsOf({ tokens = [], aliases = [] }: SessionRecord): RecordChange[] {
    return [...removals(TOKEN_PREFIX, tokens), ...removals(ALIAS_PREFIX, aliases)]
  }

  /** Removes expired records, in slices. */
  async sweep(): Promise<void> {
    for (const prefix of [TOKEN_PREFIX, ALIAS_PREFIX]) {
      for (const slice of recordSlices(this.records, prefix)) {
        const expiredRecords = slice.filter(({ value }) => (value as Entry).expires <= this.now())
        await this.records.put(expiredRecords.map(({ key }) => ({ key, value: undefined })))
      }
    }
  }
}

/** Appends an element. @returns the list, and its oldest elements beyond `limit` */
function appendElement(
  list: readonly string[] = [],
  element: string,
  limit: number,
): { list: string[]; surplus: string[] } {
  const all = [...list, element]
  return { list: all.slice(-limit), surplus: all.slice(0, -limit) }
}

const removals = (prefix: string, hashes: readonly string[]): RecordChange[] =>
  hashes.map(hash => ({ key: prefix + hash, value: undefined }))
