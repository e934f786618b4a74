import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MEASURE } from './memory-gauge.ts'
import { ENOUGH, MEMORY, TOO_LITTLE } from './tasks.ts'

/** Maximum share of the time that forced garbage collection may take. */
const COLLECTING_SHARE = 0.1

/**
 * Makes this thread measurable by `memoryGauge`. It may use `limitBytes` beyond its current use, and the same amount again for
 * garbage.
 */
export function noteMemory(progress: Int32Array, limitBytes: number): void {
  const limit = usedBytes() + limitBytes
  let collectAgainAt = 0
  const isTooMuch = (): boolean => {
    if (usedBytes() <= limit) return false
    if (usedBytes() > limit + limitBytes) return true
    const startedAt = performance.now()
    if (startedAt < collectAgainAt) return false
    collectGarbage()
    const endedAt = performance.now()
    collectAgainAt = endedAt + (endedAt - startedAt) / COLLECTING_SHARE
    return usedBytes() > limit
  }
  const measure = () => Atomics.store(progress, MEMORY, isTooMuch() ? TOO_LITTLE : ENOUGH)
  Object.defineProperty(globalThis, Symbol.for(MEASURE), { value: measure })
}

/** Bytes of objects and buffers of this thread, without memory that threads share. */
function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}

/** Collects garbage; V8 exposes `gc` only on demand. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}
