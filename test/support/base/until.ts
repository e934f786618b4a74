import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = 20
/** Long enough for a busy machine; only failures take it. */
const PATIENCE_MS = Number(process.env.PATIENCE ?? 60_000)

/** Waits until a condition is true, for a minute at most. @returns true if it is */
export async function until(isTrue: () => Promise<boolean> | boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS
  while (!(await isTrue())) {
    if (performance.now() > end) return false
    await delay(LOOK_MS)
  }
  return true
}
