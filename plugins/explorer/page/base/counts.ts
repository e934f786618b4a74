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
const placeCounts = new Map<string, number>()
const controllers = new Map<string, AbortController>()
/** Dataclasses counted since the current catalog was loaded. */
const countedClasses = new Set<string>()
let askedFor = catalog.peek()

/** Counts the entities of a dataclass, unless they have been counted since the catalog was loaded. */
export function wantCount(dataClass: string): void {
  placeCounts.set(dataClass, (placeCounts.get(dataClass) ?? 0) + 1)
  next()
}

/** Called when one of the places no longer shows a dataclass. */
export function unwantCount(dataClass: string): void {
  const placeCount = placeCounts.get(dataClass)! - 1
  if (placeCount > 0) return void placeCounts.set(dataClass, placeCount)
  placeCounts.delete(dataClass)
  controllers.get(dataClass)?.abort()
}

function next(): void {
  if (askedFor !== catalog.peek()) countedClasses.clear()
  askedFor = catalog.peek()
  for (const dataClass of placeCounts.keys()) {
    if (controllers.size >= AT_A_TIME) return
    if (!countedClasses.has(dataClass) && !controllers.has(dataClass)) void count(dataClass)
  }
}

async function count(dataClass: string): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  controllers.set(dataClass, controller)
  try {
    const { __COUNT } = await ask<{ __COUNT: number }>(dataClass, { $top: 0 }, { signal })
    if (!signal.aborted) counts.value = new Map(counts.value).set(dataClass, __COUNT)
  } catch {
    // The class is shown without a number.
  }
  controllers.delete(dataClass)
  if (!signal.aborted) countedClasses.add(dataClass)
  next()
}

atLogout(() => {
  for (const controller of controllers.values()) controller.abort()
  counts.value = new Map()
})
