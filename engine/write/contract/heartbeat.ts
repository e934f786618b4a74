import type { TransactionPhase } from '../../data/store-transaction.ts'

const PHASES: readonly TransactionPhase[] = ['idle', 'working', 'committing']
const BEATS = 0
const PHASE = 1
const LOCKS = 2
const COMMITS = 3
const WORDS = 4

/**
 * Progress of the writer thread, in memory that it shares with its client. A long phase shows that the thread waits for a hanging
 * disk, from which it recovers, or has died inside a transaction, which no event reports.
 */
export class Heartbeat {
  /** @param words words of another thread's heartbeat */
  constructor(
    readonly words: Int32Array = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)),
  ) {}

  /** Called by the writer thread when it enters a phase. */
  enter(phase: TransactionPhase): void {
    Atomics.store(this.words, PHASE, PHASES.indexOf(phase))
    this.beat()
  }

  /** Reports progress within a long phase: a large transaction on a slow disk, or one that plugin code drives. Called for each row, at some 12 ns. */
  beat(): void {
    Atomics.add(this.words, BEATS, 1)
  }

  /** Number of locks on entities that the writer thread holds for clients. */
  get locks(): number {
    return Atomics.load(this.words, LOCKS)
  }

  set locks(count: number) {
    Atomics.store(this.words, LOCKS, count)
  }

  /** Called by the writer thread after a commit. Costs half a microsecond, whether or not a thread waits. */
  committed(): void {
    Atomics.add(this.words, COMMITS, 1)
    this.wake()
  }

  /** Counter that changes with every commit. */
  get commits(): number {
    return Atomics.load(this.words, COMMITS)
  }

  /** Resolves when {@link commits} has changed, or {@link wake} is called. Does not keep the process alive. */
  async commitAfter(commits: number): Promise<void> {
    await Atomics.waitAsync(this.words, COMMITS, commits).value
  }

  wake(): void {
    Atomics.notify(this.words, COMMITS)
  }

  get phase(): TransactionPhase {
    return PHASES[Atomics.load(this.words, PHASE)]!
  }

  /** Counter that changes whenever the thread makes progress. */
  get beats(): number {
    return Atomics.load(this.words, BEATS)
  }
}
