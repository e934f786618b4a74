/** Numbers of entities, only of the dataclasses in view, since a model may have hundreds. */
import { signal } from '@preact/signals'
import { catalog } from './catalog.ts'
import { atLogout } from './remembered.ts'
import { ask } from './rest.ts'

/** Browsers have six connections to a server: two are left for requests of the user. */
const AT_A_TIME = 4

/** Numbers of entities by dataclass. */
export const counts = signal<ReadonlyMap<string, number>>(new Map())

/** Dataclasses in view, with the number of places that show them. */
const wanted = new Map<string, number>()
const running = new Map<string, AbortController>()
/** Dataclasses counted since the current catalog was loaded. */
const asked = new Set<string>()
let askedFor = catalog.peek()

/** Counts the entities of a dataclass, unless they have been counted since the catalog was loaded. */
export function wantCount(dataClass: string): void {
  wanted.set(dataClass, (wanted.get(dataClass) ?? 0) + 1)
  next()
}

/** Called when one of the places no longer shows a dataclass. */
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
