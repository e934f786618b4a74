import { needsOf } from '../../data/suspended.ts'
import type { SaveSteps } from '../../write/steps/save-steps.ts'
import type { ChangeOutcome, RemoteChange, RemoteTransaction } from './remote-transaction.ts'

/** Entities that were checked together. */
interface Piece {
  readonly transaction: RemoteTransaction
  readonly accept: ReturnType<SaveSteps['step']>
}

/** A piece whose changes have no outcomes yet. */
interface OpenPiece {
  readonly transaction: RemoteTransaction
  /** Indexes of its entities. */
  readonly start: number
  readonly end: number
}

/** @returns undefined if the work needs rows that have not been read */
export function runUnlessSuspended<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (needsOf(error)) return undefined
    throw error
  }
}

/** A slice of new entities that is checked piece by piece. The results are accepted at once, and completed with the outcomes. */
export class SavePieces {
  /** True if some piece needs rows that have not been read: nothing may be kept. */
  isStopped = false
  private readonly openPieces: OpenPiece[] = []
  private readonly start: number
  private readonly restore: () => void
  /** Number of outcomes of pieces that are complete. */
  private doneCount = 0
  private isPlain = true

  /**
   * @param sliceSize number of entities of the slice, a multiple of that of the pieces
   * @param check checks the next entities; undefined if it needs rows that have not been read
   */
  constructor(
    private readonly steps: SaveSteps,
    private readonly sliceSize: number,
    private readonly check: () => Promise<Piece | undefined>,
  ) {
    this.start = steps.count
    this.restore = steps.checkpoint()
  }

  /** @param outcomes of the first changes @returns the changes of the next piece, undefined after the last one */
  async next(outcomes: readonly ChangeOutcome[]): Promise<readonly RemoteChange[] | undefined> {
    this.complete(outcomes)
    const { steps } = this
    const start = steps.count
    if (this.isStopped || steps.outcome || start - this.start >= this.sliceSize) return undefined
    const piece = await this.check()
    this.isStopped = piece === undefined
    if (!piece) return undefined
    const { transaction, accept } = piece
    accept(0)
    this.openPieces.push({ transaction, start, end: steps.count })
    return transaction.changes
  }

  /** @returns false if results depend on outcomes: all of them have been taken back */
  finish(outcomes: readonly ChangeOutcome[]): boolean {
    this.complete(outcomes)
    if (!this.isPlain) this.restore()
    return this.isPlain
  }

  /** Takes back all results. */
  takeBack(): readonly ChangeOutcome[] {
    this.restore()
    return []
  }

  /** Completes pieces as early as possible, so that little memory survives. */
  private complete(outcomes: readonly ChangeOutcome[]): void {
    for (let piece = this.openPieces[0]; piece; piece = this.openPieces[0]) {
      const { transaction, start, end } = piece
      const doneCount = this.doneCount + transaction.changes.length
      if (doneCount > outcomes.length) return
      const own = outcomes.slice(this.doneCount, doneCount)
      this.isPlain &&= !transaction.readsPending && own.every(({ kind }) => kind === 'done')
      if (this.isPlain) this.steps.complete(start, end, entity => transaction.finished(entity, own))
      this.doneCount = doneCount
      this.openPieces.shift()
    }
  }
}
