import type { Logger } from 'pino'
import type { MigrationStep } from '../engine/index.ts'
import { describeProgress } from './describe-progress.ts'

/** Minimum time between two lines. */
const LINE_MS = 5_000

/** Descriptions of migration steps, which precede the name of a dataclass. */
export const MIGRATION_STEPS: Record<MigrationStep['what'], string> = {
  check: 'looking for what would be lost in',
  rewrite: 'rewriting',
  index: 'building indexes of',
  catchUp: 'taking over changes of',
  calculate: 'calculating values of',
}

/** Logs the progress of a store's migration to a changed model: a line every few seconds, however many rows there are. */
export class MigrationLog {
  private part = ''
  private partStartedAt = 0
  private loggedAt: number
  private shownAt: number

  constructor(
    private readonly log: Pick<Logger, 'info'>,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.loggedAt = now()
    this.shownAt = this.loggedAt
  }

  show(step: MigrationStep): void {
    const now = this.now()
    const { what, dataClass, done, total } = step
    const part = `${MIGRATION_STEPS[what]} ${dataClass}`
    if (part !== this.part) {
      this.part = part
      // A part begins when the previous one is done.
      this.partStartedAt = this.shownAt
    }
    this.shownAt = now
    if (now - this.loggedAt < LINE_MS) return
    this.loggedAt = now
    const text = describeProgress(part, done, total, now - this.partStartedAt)
    this.log.info({ progress: { dataClass, what, done, total } }, `bringing the store to the model: ${text}`)
  }
}
