import { readlinkSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { HISTOGRAM_CELLS } from './histogram.ts'

const COUNTERS = [
  'parseHits',
  'parseMisses',
  'planHits',
  'planMisses',
  'columnHits',
  'columnMisses',
  'commits',
  'changes',
  'writesRefused',
  'poolRefused',
  'functionsBusy',
  'functionsBroken',
] as const
const TIMES = [
  'writeTime',
  'writerWorkTime',
  'writerCommitTime',
  'poolWaitTime',
  'poolRunTime',
  'functionWaitTime',
  'functionRunTime',
] as const
const BLOCK_CELLS = COUNTERS.length + TIMES.length * HISTOGRAM_CELLS

/** Cells of a thread's block: of each counter, and the first one of each histogram. */
export const COUNT = Object.fromEntries([
  ...COUNTERS.map((name, i) => [name, i]),
  ...TIMES.map((name, i) => [name, COUNTERS.length + i * HISTOGRAM_CELLS]),
]) as Readonly<Record<(typeof COUNTERS | typeof TIMES)[number], number>>

/** Purposes of threads. */
const ROLES = ['kernel', 'writer', 'pool', 'vector', 'function'] as const
export type ThreadRole = (typeof ROLES)[number]

/** Counters of one thread. Only that thread writes them, so it needs no atomic operations; any thread may read them. */
export type ThreadCounts = Float64Array

/** Counters that no other thread sees. */
export const ownCounts = (): ThreadCounts => new Float64Array(BLOCK_CELLS)

const BLOCKS = 128
/** Words of a block: the id of its thread plus 1, its role, and its id in the system or 0. */
const WORDS = 3
const ROLE = 1
const SYSTEM_ID = 2

/**
 * Counters of all threads of a server, in memory that they share: a block for each. The counts of a thread that has ended
 * stay, and the next one counts on in its block.
 */
export class SharedCounts {
  private readonly words: Int32Array
  private readonly cells: Float64Array

  constructor(readonly buffer = new SharedArrayBuffer(BLOCKS * (8 * BLOCK_CELLS + 4 * WORDS))) {
    this.cells = new Float64Array(buffer, 0, BLOCKS * BLOCK_CELLS)
    this.words = new Int32Array(buffer, 8 * BLOCKS * BLOCK_CELLS)
  }

  /** A block for the thread that calls it, in the memory of another thread's counts, if there are such. */
  static claimIn(buffer: SharedArrayBuffer | undefined, role: ThreadRole): ThreadCounts {
    return buffer ? new SharedCounts(buffer).claim(role) : ownCounts()
  }

  /** A block for the thread that calls it. Without a free one its counts are lost. */
  claim(role: ThreadRole): ThreadCounts {
    for (let block = 0; block < BLOCKS; block++) {
      const word = block * WORDS
      if (Atomics.compareExchange(this.words, word, 0, threadId + 1) !== 0) continue
      Atomics.store(this.words, word + ROLE, ROLES.indexOf(role))
      Atomics.store(this.words, word + SYSTEM_ID, systemId())
      return this.cells.subarray(block * BLOCK_CELLS, (block + 1) * BLOCK_CELLS)
    }
    return ownCounts()
  }

  /** Gives up the blocks of threads that have ended. */
  freeBlocksOfOthers(isAlive: (threadId: number) => boolean): void {
    for (let word = 0; word < BLOCKS * WORDS; word += WORDS) {
      const owner = Atomics.load(this.words, word)
      if (owner !== 0 && !isAlive(owner - 1)) Atomics.store(this.words, word, 0)
    }
  }

  /** The cells of all blocks together. */
  sum(): ThreadCounts {
    const total = ownCounts()
    for (let i = 0; i < this.cells.length; i++) total[i % BLOCK_CELLS]! += this.cells[i]!
    return total
  }

  /** Live threads, as far as they have a block. */
  threads(): { role: ThreadRole; systemId: number }[] {
    const found: { role: ThreadRole; systemId: number }[] = []
    for (let word = 0; word < BLOCKS * WORDS; word += WORDS) {
      if (Atomics.load(this.words, word) === 0) continue
      found.push({ role: ROLES[this.words[word + ROLE]!]!, systemId: this.words[word + SYSTEM_ID]! })
    }
    return found
  }
}

/** Id of this thread in the system, by which Linux tells its CPU time; 0 elsewhere. */
function systemId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}
