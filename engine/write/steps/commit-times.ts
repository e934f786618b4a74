import { observe } from '../../base/counts/histogram.ts'
import { COUNT, type ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { TransactionPhase } from '../../data/store-transaction.ts'

/** Times of the commits of the writer thread: the work of a transaction, and the wait for the disk. */
export class CommitTimes {
  private phase: TransactionPhase = 'idle'
  private since = 0

  constructor(private readonly counts: ThreadCounts) {}

  enter(phase: TransactionPhase): void {
    const now = performance.now()
    if (phase === 'committing') observe(this.counts, COUNT.writerWorkTime, now - this.since)
    else if (this.phase === 'committing') observe(this.counts, COUNT.writerCommitTime, now - this.since)
    this.phase = phase
    this.since = now
  }

  committed(changes: number): void {
    this.counts[COUNT.commits]!++
    this.counts[COUNT.changes]! += changes
  }
}
