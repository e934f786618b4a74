import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MEASURE } from './memory-gauge.ts'
import { ENOUGH, MEMORY, TOO_LITTLE } from './tasks.ts'

/** V8 is not asked to collect garbage for more than this share of the time. */
const COLLECTING_SHARE = 0.1

/**
 * Makes this thread measurable by the `memoryGauge`. It may use `limitBytes` beyond what it uses now, and as much again for
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

/** Objects and buffers of this thread; memory that threads share is in neither. */
function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}

/** V8 has it only on demand. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}
