import type { Logger } from 'pino'
import type { PluginEngine } from '../../kernel/api.ts'

type Backup = Parameters<PluginEngine['backup']>
type Made = Awaited<ReturnType<PluginEngine['backup']>>
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

const iso = (time: number): string => new Date(time).toISOString()

/** The backups that a server makes, one at a time. */
export class BackupRuns {
  /** The one that is being made. */
  running: { readonly since: number; step: Step | undefined } | undefined
  lastSuccess: { readonly ended: number; readonly made: Made } | undefined
  failures = 0
  /** Next time of the schedule. */
  next: () => Date | null = () => null
  private last: object | null = null

  constructor(private readonly options: RunOptions) {}

  /** Makes a backup, unless one is being made. Never rejects: the outcome is logged and described. */
  async run(full: boolean): Promise<void> {
    if (this.running) return
    const { engine, log, now, place, policy } = this.options
    const running: NonNullable<BackupRuns['running']> = { since: now(), step: undefined }
    this.running = running
    try {
      const made = await engine.backup(place, { ...policy, full }, step => {
        running.step = step
      })
      const ended = now()
      this.lastSuccess = { ended, made }
      const { name, kind, bytes, stamp, removed } = made
      this.last = { ended: iso(ended), name, kind, bytes, stamp }
      log.info({ name, kind, bytes, stamp, removed, ms: ended - running.since }, 'backup made')
    } catch (error) {
      this.failures++
      const { message } = error as Error
      this.last = { ended: iso(now()), error: message }
      log.error({ reason: message }, 'backup failed')
    } finally {
      this.running = undefined
    }
  }

  /** The state of the backups, for administrators. */
  async describe(): Promise<object> {
    const { running, last } = this
    const backups = await this.options.engine.listBackups(this.options.place)
    const next = this.next()
    return {
      running: running ? { since: iso(running.since), step: running.step ?? null } : null,
      last,
      next: next ? next.toISOString() : null,
      backupCount: backups.length,
      backups: backups
        .slice(-LISTED)
        .reverse()
        .map(({ name, manifest: { kind, time, stamp, files, blobs } }) => ({
          name,
          kind,
          time: iso(time),
          stamp,
          bytes: files.reduce((sum, file) => sum + file.bytes, blobs.bytes),
        })),
    }
  }
}
