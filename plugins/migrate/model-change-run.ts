import type { Logger } from 'pino'
import type { PluginEngine } from '../../kernel/api.ts'

type ModelChange = PluginEngine['modelChange']
type Step = Parameters<Parameters<ModelChange['run']>[1]['onProgress']>[0]

interface RunOptions {
  readonly modelChange: ModelChange
  readonly log: Logger
  readonly now: () => number
}

/** Minimum time between two lines of the log. */
const LOG_MS = 10_000

/** The change of the model that a server prepares. */
export class ModelChangeRun {
  /** `ready`: the next start uses the copy. */
  state: 'none' | 'running' | 'ready' | 'failed' = 'none'
  step: Step | undefined
  private since = 0
  private endedAt = 0
  private changes: string[] = []
  private error: string | undefined
  private loggedAt = 0
  private runPromise: Promise<void> = Promise.resolve()
  private isStopped = false

  constructor(private readonly options: RunOptions) {}

  /** Continues a change that an earlier server process has begun. */
  resume(): void {
    const earlierChange = this.options.modelChange.begun
    if (earlierChange) this.start(earlierChange.allowLoss)
  }

  /** Prepares the change, unless that is in progress. The outcome is logged and returned by `describe`. */
  start(allowLoss: boolean): void {
    if (this.state !== 'running') this.runPromise = this.run(allowLoss)
  }

  private async run(allowLoss: boolean): Promise<void> {
    const { modelChange, log, now } = this.options
    this.state = 'running'
    this.since = now()
    this.changes = []
    this.error = undefined
    log.info('a change of the model is being prepared')
    try {
      const isChange = await modelChange.run(allowLoss, {
        onNote: (text, level) => {
          this.changes.push(text)
          log[level ?? 'info'](text)
        },
        onProgress: step => this.advance(step),
      })
      // The copy was made for a model change that has been reverted.
      if (!isChange) await modelChange.discard()
      this.state = isChange ? 'ready' : 'none'
      const outcome = isChange
        ? 'the change of the model is ready: the next start takes it'
        : 'the model has not changed'
      log.info({ ms: now() - this.since }, outcome)
    } catch (error) {
      if (this.isStopped) return
      this.error = (error as Error).message
      this.state = 'failed'
      log.error({ reason: this.error }, 'the change of the model could not be prepared')
    }
    this.endedAt = now()
    this.step = undefined
  }

  /** Ends the preparation and removes the copy. */
  async discard(): Promise<void> {
    this.isStopped = true
    await this.options.modelChange.discard()
    await this.runPromise
    this.state = 'none'
    this.step = undefined
    this.isStopped = false
  }

  /** Called before the server ends the process. The next server process continues. */
  stop(): void {
    this.isStopped = true
  }

  private advance(step: Step): void {
    this.step = step
    const now = this.options.now()
    if (now - this.loggedAt < LOG_MS) return
    this.loggedAt = now
    this.options.log.info({ progress: step }, 'a change of the model is being prepared')
  }

  /** The state, for administrators. */
  describe(): object {
    const { state, since, endedAt, step, changes, error } = this
    return {
      state,
      ...(state !== 'none' && { since: iso(since), changes }),
      ...(state === 'running' && { step: step ?? null }),
      ...(state === 'ready' && { ended: iso(endedAt) }),
      ...(state === 'failed' && { ended: iso(endedAt), error }),
    }
  }
}

const iso = (time: number): string => new Date(time).toISOString()
