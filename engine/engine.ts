import { BackupRuns } from './backup-runs.ts'
import { Calls } from './calls.ts'
import { Locks } from './locks.ts'
import { Queries } from './queries.ts'
import { RowTarget } from './row-target.ts'
import { Saves } from './saves.ts'
import type { SaveBodies } from './placement/save-bodies.ts'
import { Binaries } from './binary/binaries.ts'
import type { Uploads } from './binary/uploads.ts'
import type { Catalog } from './catalog/dataclass.ts'
import { LoopDelay } from './base/counts/loop-delay.ts'
import { BINARY_CACHE_BYTES } from './engine-options.ts'
import { EngineMetrics } from './engine-metrics.ts'
import type { CommitFeed } from './follow/commit-feed.ts'
import { ModelChange } from './model-change.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EntitySets } from './entity-set/entity-sets.ts'
import type { ClassRegistry } from './author/declare/class-registry.ts'
import { JobClient } from './author/run/job-client.ts'
import { calculateOutdated } from './author/run/calculate-outdated.ts'
import type { Permissions } from './permission/permissions.ts'
import { warmUpGrammar } from './query/parse/warm-up.ts'
import type { QueryLimits } from './query/contract/query-limits.ts'
import { SessionTable } from './cluster/session-table.ts'
import type { ServerRecords } from './records/server-records.ts'

/** An open store with the threads that work on it, created by {@link openEngine}: its parts by name. */
export class Engine {
  readonly catalog: Catalog
  readonly limits: QueryLimits
  readonly queries: Queries
  readonly saves: Saves
  readonly locks: Locks
  readonly calls: Calls
  readonly rows: RowTarget
  /** Large bodies, parsed in the pool. */
  readonly bodies: SaveBodies
  readonly entitySets: EntitySets
  readonly uploads: Uploads
  readonly binaries: Binaries
  /** Rights of all sessions. Nothing is restricted until roles are set. */
  readonly permissions: Permissions
  readonly classes: ClassRegistry
  readonly jobs: JobClient
  readonly commits: CommitFeed
  /** Records of the server itself. */
  readonly records: ServerRecords
  /** Sessions that several servers share; undefined if this server keeps its sessions among its records. */
  readonly sharedSessions: SessionTable | undefined
  readonly modelChange: ModelChange
  readonly backups: BackupRuns
  readonly metrics: EngineMetrics
  /** Loop delay of the thread that opens the engine, which also starts the measurement. */
  readonly loopDelay: LoopDelay

  /** @param parts all parts of the store; for tests that need a single part */
  constructor(readonly parts: EngineParts) {
    const { data, writer, code, backends, uploads, classes, options } = parts
    this.catalog = data.catalog
    this.limits = options.limits
    this.queries = new Queries(parts)
    this.saves = new Saves(parts, this.queries)
    this.locks = new Locks(backends, this.queries)
    this.calls = new Calls(parts, this.queries)
    this.rows = new RowTarget(parts, this.saves)
    this.bodies = parts.bodies
    this.entitySets = parts.entitySets
    this.uploads = uploads
    this.binaries = new Binaries({
      data,
      backends,
      uploads,
      view: access => this.queries.view(access),
      write: (request, caller) => this.saves.write(request, caller),
      cacheBytes: options.binaryCacheBytes ?? BINARY_CACHE_BYTES,
      onInternalError: options.onInternalError,
    })
    this.permissions = parts.permissions
    this.classes = classes
    this.jobs = new JobClient({ records: parts.records, writer, code, declared: classes.jobs })
    this.commits = parts.commits
    this.records = parts.records
    this.sharedSessions = parts.clusterDatabase && new SessionTable(parts.clusterDatabase)
    this.modelChange = new ModelChange(options, classes.classes)
    this.backups = new BackupRuns(options)
    this.metrics = new EngineMetrics(parts, this.binaries)
    this.loopDelay = new LoopDelay(parts.ownCounts, parts.counts.beats)
  }

  /**
   * Removes remains of a crash, recomputes stored calculated values whose code has changed, and starts the creation of tables in databases
   * without waiting for it. To be called first.
   */
  async prepare(): Promise<void> {
    const { data, writer, hooked, code, options } = this.parts
    await data.records.sweepIncoming()
    await this.uploads.sweep()
    await this.checkTasks()
    await calculateOutdated({ catalog: data.catalog, data, writer, hooked, code, onProgress: options.onProgress })
    for (const backend of this.parts.backends.all) backend.prepare?.()
  }

  /** @throws {Error} with the plugins and their tasks that cannot be loaded */
  private async checkTasks(): Promise<void> {
    const { options, pool } = this.parts
    if (!options.tasks?.length) return
    const answer = (await pool.run({ kind: 'problems' })) as Uint8Array
    const problems = JSON.parse(Buffer.from(answer).toString()) as string[]
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  /** Starts the threads and compiles the parser, which otherwise happens with the first query that needs them. */
  warmUp(): void {
    void warmUpGrammar()
    for (const backend of this.parts.backends.all) backend.warmUp()
    this.parts.code?.warmUp()
  }

  /** Ends backups and changes of the model, finishes running requests and queued writes, then closes the store. */
  async close(): Promise<void> {
    this.commits.close()
    await Promise.allSettled([this.backups.close(), this.modelChange.close()])
    const {
      code,
      backends,
      databases,
      clusterDatabase,
      sharedSets,
      entitySetStore,
      uploads,
      writer,
      data,
      spools,
      exportSpools,
    } = this.parts
    this.loopDelay.stop()
    await code?.close()
    // Pool results may still be stored as entity sets.
    const outcomes = await Promise.allSettled(backends.all.map(backend => backend.close()))
    await databases?.close()
    await sharedSets?.close()
    await clusterDatabase?.close()
    await entitySetStore.close()
    await uploads.close()
    await writer.close()
    await data.close()
    spools.close()
    exportSpools.close()
    for (const each of outcomes) if (each.status === 'rejected') throw each.reason
  }
}
