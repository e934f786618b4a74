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
  'loopDelay',
] as const
const BLOCK_CELLS = COUNTERS.length + TIMES.length * HISTOGRAM_CELLS

/** Cells of a thread's block: of each counter, and the first cell of each histogram. */
export const COUNT = Object.fromEntries([
  ...COUNTERS.map((name, i) => [name, i]),
  ...TIMES.map((name, i) => [name, COUNTERS.length + i * HISTOGRAM_CELLS]),
]) as Readonly<Record<(typeof COUNTERS | typeof TIMES)[number], number>>

/** Purposes of threads. */
export const ROLES = ['kernel', 'writer', 'pool', 'vector', 'function', 'remote'] as const
export type ThreadRole = (typeof ROLES)[number]

/** Counters of one thread. Only that thread writes them, so it needs no atomic operations; any thread may read them. */
export type ThreadCounts = Float64Array

/** Counters that no other thread sees. */
export const ownCounts = (): ThreadCounts => new Float64Array(BLOCK_CELLS)

const BLOCKS = 128
/** Words of a block: thread id plus 1, role plus 1, thread id in the system; 0: none. */
const WORDS = 3
const ROLE = 1
const SYSTEM_ID = 2

/**
 * Counters of all threads of a server in shared memory, a block for each. The counts of a thread that has ended stay, and the
 * next thread of its role continues them in the same block.
 */
export class SharedCounts {
  private readonly words: Int32Array
  private readonly cells: Float64Array
  /** One cell, incremented some ten times a second by every thread that is not held up. */
  readonly beats: Int32Array

  constructor(readonly buffer = new SharedArrayBuffer(BLOCKS * (8 * BLOCK_CELLS + 4 * WORDS) + 4)) {
    this.cells = new Float64Array(buffer, 0, BLOCKS * BLOCK_CELLS)
    this.words = new Int32Array(buffer, 8 * BLOCKS * BLOCK_CELLS, BLOCKS * WORDS)
    this.beats = new Int32Array(buffer, buffer.byteLength - 4, 1)
  }

  /** Claims a block for the calling thread. If none is free, its counts are lost. */
  claim(role: ThreadRole): ThreadCounts {
    const roleNumber = ROLES.indexOf(role) + 1
    for (let block = 0; block < BLOCKS; block++) {
      const word = block * WORDS
      if (Atomics.compareExchange(this.words, word, 0, threadId + 1) !== 0) continue
      const blockRole = Atomics.compareExchange(this.words, word + ROLE, 0, roleNumber)
      if (blockRole !== 0 && blockRole !== roleNumber) {
        Atomics.store(this.words, word, 0)
        continue
      }
      Atomics.store(this.words, word + SYSTEM_ID, systemId())
      return this.cells.subarray(block * BLOCK_CELLS, (block + 1) * BLOCK_CELLS)
    }
    return ownCounts()
  }

  /** Releases the blocks of threads that have ended. */
  freeBlocksOfOthers(isAlive: (threadId: number) => boolean): void {
    for (let word = 0; word < BLOCKS * WORDS; word += WORDS) {
      const owner = Atomics.load(this.words, word)
      if (owner !== 0 && !isAlive(owner - 1)) Atomics.store(this.words, word, 0)
    }
  }

  /** Sums the cells of all blocks, ended threads included. @param role limits the sum to the threads of one role */
  sum(role?: ThreadRole): ThreadCounts {
    const total = ownCounts()
    const wantedRole = role && ROLES.indexOf(role) + 1
    for (let block = 0; block < BLOCKS; block++) {
      const blockRole = Atomics.load(this.words, block * WORDS + ROLE)
      if (blockRole === 0 || (wantedRole !== undefined && blockRole !== wantedRole)) continue
      for (let i = 0; i < BLOCK_CELLS; i++) total[i]! += this.cells[block * BLOCK_CELLS + i]!
    }
    return total
  }

  /** Live threads that have a block. */
  threads(): { role: ThreadRole; systemId: number }[] {
    const threads: { role: ThreadRole; systemId: number }[] = []
    for (let word = 0; word < BLOCKS * WORDS; word += WORDS) {
      if (Atomics.load(this.words, word) === 0) continue
      threads.push({ role: ROLES[this.words[word + ROLE]! - 1]!, systemId: this.words[word + SYSTEM_ID]! })
    }
    return threads
  }
}

/** Id of this thread in the system, under which Linux reports its CPU time; 0 elsewhere. */
function systemId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}
