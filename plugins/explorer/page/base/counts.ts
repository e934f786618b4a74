/** Numbers of entities, of the dataclasses that are in view: a model may have hundreds. */
import { signal } from '@preact/signals'
import { catalog } from './catalog.ts'
import { atLogout } from './remembered.ts'
import { ask } from './rest.ts'

/** Browsers have six connections to a server: two are left to what the user has asked for. */
const AT_A_TIME = 4

/** Numbers by dataclass. */
export const counts = signal<ReadonlyMap<string, number>>(new Map())

/** Dataclasses that are in view, with the number of places that show them. */
const wanted = new Map<string, number>()
const running = new Map<string, AbortController>()
/** Dataclasses that have an answer, for the catalog that is shown. */
const asked = new Set<string>()
let askedFor = catalog.peek()

/** Its entities are counted, unless they have been since the catalog has come. */
export function wantCount(dataClass: string): void {
  wanted.set(dataClass, (wanted.get(dataClass) ?? 0) + 1)
  next()
}

/** One place that has wanted it does so no longer. */
export function unwantCount(dataClass: string): void {
  const others = wanted.get(dataClass)! - 1
  if (others > 0) return void wanted.set(dataClass, others)
  wanted.delete(dataClass)
  running.get(dataClass)?.abort()
}

function next(): void {
  if (askedFor !== catalog.peek()) asked.clear()
  askedFor = catalog.peek()
  for (const dataClass of wanted.keys()) {
    if (running.size >= AT_A_TIME) return
    if (!asked.has(dataClass) && !running.has(dataClass)) void count(dataClass)
  }
}

async function count(dataClass: string): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  running.set(dataClass, controller)
  try {
    const { __COUNT } = await ask<{ __COUNT: number }>(dataClass, { $top: 0 }, { signal })
    if (!signal.aborted) counts.value = new Map(counts.value).set(dataClass, __COUNT)
  } catch {
    // The class is shown without a number.
  }
  running.delete(dataClass)
  if (!signal.aborted) asked.add(dataClass)
  next()
}

atLogout(() => {
  for (const controller of running.values()) controller.abort()
  counts.value = new Map()
})
