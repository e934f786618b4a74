import { getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { outputUrl } from '../../base/output-root.ts'

/**
 * Default young generation of Node.js 20. A collection may move all of it to the old generation. If that exceeds the limit by more
 * than the 16 MiB that Node.js adds, the process ends instead of the thread, as it always does with the default of Node.js 24.
 */
const YOUNG_MIB = 48
/**
 * Lower priority, which lets the kernel thread run first if there are more threads than cores. Only on Linux do the threads of a
 * process have separate priorities.
 */
const NICE = process.platform === 'linux' && mayLowerPriority() ? 5 : 0

interface ThreadOptions {
  /** Module that the threads run. */
  readonly file: string
  readonly workerData: object
  readonly threads: number
  readonly tasksPerThread: number
  /** Heap limit of a thread. */
  readonly heapBytes: number
}

/** Starts the threads of a pool. Piscina replaces one that ends. */
export const startThreads = ({ file, workerData, threads, tasksPerThread, heapBytes }: ThreadOptions): Piscina =>
  new Piscina({
    filename: fileURLToPath(outputUrl(file)),
    workerData,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: tasksPerThread,
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytes / 2 ** 20), maxYoungGenerationSizeMb: YOUNG_MIB },
    recordTiming: false,
    niceIncrement: NICE,
  })

/** False in a sandbox that refuses the system call: a thread that uses it would end. */
function mayLowerPriority(): boolean {
  try {
    setPriority(getPriority())
    return true
  } catch {
    return false
  }
}
