import type { Logger } from 'pino'
import type { PluginEngine } from '../../kernel/api.ts'

type Backup = Parameters<PluginEngine['backup']>
type Listed = Awaited<ReturnType<PluginEngine['listBackups']>>[number]
type Step = Parameters<Backup[2]>[0]

interface RunOptions {
  readonly engine: Pick<PluginEngine, 'backup' | 'listBackups'>
  readonly log: Logger
  readonly now: () => number
  readonly place: Backup[0]
  readonly policy: Backup[1]
}

/** Maximum number of backups that are listed. */
const LISTED = 1_000

const bytesOf = ({ manifest: { files, blobs } }: Listed): number =>
  files.reduce((sum, file) => sum + file.bytes, blobs.bytes)

const iso = (time: number): string => new Date(time).toISOString()

/** The backups that a server makes, one at a time. */
export class BackupRuns {
  /** Backup in progress. */
  currentRun: { readonly since: number; step: Step | undefined } | undefined
  lastSuccess: { readonly endedAt: number; readonly bytes: number } | undefined
  failures = 0
  /** Next time of the schedule. */
  next: () => Date | null = () => null
  private last: object | null = null

  constructor(private readonly options: RunOptions) {}

  /** Makes a backup, unless one is in progress. Never rejects: the outcome is logged and returned by `describe`. */
  async run(full: boolean): Promise<void> {
    if (this.currentRun) return
    const { engine, log, now, place, policy } = this.options
    const backupRun: NonNullable<BackupRuns['currentRun']> = { since: now(), step: undefined }
    this.currentRun = backupRun
    try {
      const result = await engine.backup(place, { ...policy, full }, step => {
        backupRun.step = step
      })
      const endedAt = now()
      const { name, kind, bytes, stamp, removed } = result
      this.lastSuccess = { endedAt, bytes }
      this.last = { ended: iso(endedAt), name, kind, bytes, stamp }
      log.info({ name, kind, bytes, stamp, removed, ms: endedAt - backupRun.since }, 'backup made')
    } catch (error) {
      this.failures++
      const { message } = error as Error
      this.last = { ended: iso(now()), error: message }
      log.error({ reason: message }, 'backup failed')
    } finally {
      this.currentRun = undefined
    }
  }

  /** At the start of the server, treats the newest stored backup as the last successful one. */
  async load(): Promise<void> {
    const { backups, problems } = await this.list()
    for (const reason of problems) this.options.log.warn({ reason }, 'backups have a problem')
    const newest = backups.at(-1)
    if (newest) this.lastSuccess ??= { endedAt: newest.manifest.time, bytes: bytesOf(newest) }
  }

  private async list(): Promise<{ backups: Listed[]; problems: string[] }> {
    const problems: string[] = []
    try {
      const { engine, place } = this.options
      return { backups: await engine.listBackups(place, problem => problems.push(problem)), problems }
    } catch (error) {
      return { backups: [], problems: [(error as Error).message] }
    }
  }

  /** The state of the backups, for administrators. */
  async describe(): Promise<object> {
    const { currentRun, last } = this
    const { backups, problems } = await this.list()
    const next = this.next()
    return {
      running: currentRun ? { since: iso(currentRun.since), step: currentRun.step ?? null } : null,
      last,
      next: next ? next.toISOString() : null,
      backupCount: backups.length,
      backups: backups
        .slice(-LISTED)
        .reverse()
        .map(backup => {
          const { kind, time, stamp } = backup.manifest
          return { name: backup.name, kind, time: iso(time), stamp, bytes: bytesOf(backup) }
        }),
      ...(problems.length > 0 && { problems }),
    }
  }
}
