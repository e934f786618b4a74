import { TOKEN_PREFIX } from '../../engine/index.ts'
import type { ServerRecords } from '../../engine/records/server-records.ts'
import { handleOf, randomId } from './session-id.ts'

interface Entry {
  /** Handle of the session. */
  readonly session: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

const ALIAS_PREFIX = 'alias/'
const SWEEP_SLICE = 500

/**
 * Secrets by which another client takes a session over, once, and the further ids that the session has from then on. Both
 * are stored under their hashes. Source: protocol notes, 8.5.
 */
export class OneTimeTokens {
  /** Used up, until that is durable. */
  private readonly used = new Set<string>()

  constructor(
    private readonly records: ServerRecords,
    private readonly now: () => number,
  ) {}

  /** Resolves when it is durable. @param hash of the token */
  async create(hash: string, session: string, seconds: number): Promise<void> {
    const entry: Entry = { session, expires: this.now() + seconds * 1000 }
    await this.records.put([{ key: TOKEN_PREFIX + hash, value: entry }])
  }

  /**
   * Uses a token up. Resolves when that is durable, so that it is not valid again after a restart.
   * @returns the handle of its session, undefined when it is not valid (any more)
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

  /** Another id for a session. Resolves when it is durable. */
  async addId(session: string, expires: number): Promise<string> {
    const id = randomId()
    const entry: Entry = { session, expires }
    await this.records.put([{ key: ALIAS_PREFIX + handleOf(id), value: entry }])
    return id
  }

  /** Handle of the session of which `hash` is that of a further id. */
  sessionOf(hash: string): string | undefined {
    const entry = this.records.get(ALIAS_PREFIX + hash) as Entry | undefined
    return entry && entry.expires > this.now() ? entry.session : undefined
  }

  /** Removes what has expired, a slice at a time. */
  async sweep(): Promise<void> {
    for (const prefix of [TOKEN_PREFIX, ALIAS_PREFIX]) {
      for (let after = prefix; ; ) {
        const slice = this.records.list(prefix, SWEEP_SLICE, after)
        const expired = slice.filter(({ value }) => (value as Entry).expires <= this.now())
        await this.records.put(expired.map(({ key }) => ({ key, value: undefined })))
        if (slice.length < SWEEP_SLICE) break
        after = slice.at(-1)!.key
      }
    }
  }
}
