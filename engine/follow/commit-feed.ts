import { deserialize } from 'node:v8'
import type { ReadStore } from '../data/read-store.ts'
import { Views } from '../permission/views.ts'
import type { QueryPool } from '../placement/pool/query-pool.ts'
import type { ChangeBatch, ChangePlace, ChangeSelection, ChangesRequest } from '../query/contract/changes.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import { QueryCache } from '../query/plan/query-cache.ts'
import type { WriterClient } from '../write/client/writer-client.ts'
import { checkChanges } from './bind-changes.ts'

interface FeedOptions {
  readonly data: ReadStore
  readonly pool: Pick<QueryPool, 'run'>
  readonly writer: Pick<WriterClient, 'commits' | 'followedTo' | 'isLogged'>
  readonly limits: QueryLimits
  /** Plugins that follow the log. */
  readonly followers: readonly string[]
}

/**
 * The commits of the store for plugins that follow them: every commit, however it was created, including commits before the last start.
 * Nothing is read or kept unless a plugin has `followsLog`. No rights apply.
 */
export class CommitFeed {
  /** Sequences up to which the log has been read, by plugin. */
  private readonly followed: Map<string, number>
  private isClosed = false

  constructor(private readonly options: FeedOptions) {
    this.followed = new Map(options.followers.map(name => [name, 0]))
  }

  /** False for a store without a log of its commits: `storage.log` is off, or a lease holds the store. */
  get isLogged(): boolean {
    return this.options.writer.isLogged
  }

  /** Number that changes with every commit: read it before {@link read}, and wait by {@link commitAfter}. */
  get commits(): number {
    return this.options.writer.commits.commits
  }

  /** Resolves when {@link commits} has changed, or the engine is being closed. */
  async commitAfter(commits: number): Promise<void> {
    if (!this.isClosed) await this.options.writer.commits.commitAfter(commits)
  }

  /** Checks names, filter and attributes of a selection. @throws {ProtocolError} */
  check(selection: ChangeSelection): void {
    const { data, limits } = this.options
    const view = new Views(data.catalog).of(undefined)
    const queries = new QueryCache(limits)
    data.read(snapshot => checkChanges(selection, { view, queries, layouts: data.layouts, limits }, snapshot))
  }

  /** The place after the last commit. */
  end(): ChangePlace {
    const { records } = this.options.data
    records.refresh()
    const { sequence = 0, hash = new Uint8Array(16) } = records.logEnd() ?? {}
    return { sequence, hash: Buffer.from(hash).toString('hex'), index: 0 }
  }

  /** Reads changes after a place, in a thread of the pool. @throws {ProtocolError} the pool is busy; the selection does not fit */
  async read(request: ChangesRequest): Promise<ChangeBatch> {
    const answer = await this.options.pool.run({ kind: 'changes', request })
    return deserialize(answer as Uint8Array) as ChangeBatch
  }

  /** Lets the log remove records up to `sequence` once all followers have read them. */
  readTo(follower: string, sequence: number): void {
    this.followed.set(follower, sequence)
    this.options.writer.followedTo(Math.min(...this.followed.values()))
  }

  /** Wakes waiting callers. */
  close(): void {
    this.isClosed = true
    this.options.writer.commits.wake()
  }
}
