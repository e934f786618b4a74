import { setTimeout as sleep } from 'node:timers/promises'
import { quantity } from '../../../engine/base/counted.ts'
import type { ClassPlan } from './class-plan.ts'
import type { Changes } from './copy-class.ts'
import { CatalogChanged } from './read-catalog.ts'
import { Denied, SourceError } from './source.ts'

/** Outcome of a pass over all dataclasses. */
export type Found = Map<ClassPlan, Changes>

interface FollowOptions {
  /** Pause between two passes. */
  readonly everyMs: number
  /** Compares source and store once, and copies what differs. Outcomes are added to `outcomes` as they come. */
  readonly pass: (outcomes: Found) => Promise<unknown>
  readonly print: (line: string) => void
  /** Stops the passes after the one in progress. */
  readonly stop: AbortSignal
}

const MAX_PAUSE_MS = 60_000

/**
 * Repeats passes until `stop`. For each pass that found a difference, prints what it copied.
 * @throws {Denied} the source refuses this client; {@link CatalogChanged}; errors of the store
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { everyMs, print, stop } = options
  const refusalCounts = new Map<ClassPlan, number>()
  const onStop = (): void => print('stopping after one last comparison; a second signal stops it immediately')
  stop.addEventListener('abort', onStop, { once: true })
  try {
    for (;;) {
      await pause(everyMs, stop)
      if (stop.aborted) return
      const outcomes: Found = new Map()
      await persistentPass(options, outcomes)
      if (differences(outcomes) > 0) print(describeEach(outcomes))
      for (const [plan, changes] of outcomes) {
        if (changes.refusals.size > (refusalCounts.get(plan) ?? 0)) print(describeRefused(plan, changes))
        refusalCounts.set(plan, changes.refusals.size)
      }
    }
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}

/**
 * Makes a pass. If the source cannot be read for a while, it is tried again after growing pauses, until `stop`; the pass then continues
 * where it stopped.
 * @throws the errors of {@link follow}
 */
export async function persistentPass({ everyMs, pass, print, stop }: FollowOptions, outcomes: Found): Promise<void> {
  for (let failures = 0; ; failures++) {
    try {
      await pass(outcomes)
      if (failures > 0) print('the server can be read again')
      return
    } catch (error) {
      if (!(error instanceof SourceError) || error instanceof Denied || error instanceof CatalogChanged) throw error
      if (failures === 0) print(`the server cannot be read now; trying again until it can: ${error.message}`)
    }
    await pause(Math.max(everyMs, Math.min(everyMs * 2 ** (failures + 1), MAX_PAUSE_MS)), stop)
    if (stop.aborted) return
  }
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: stop })
  } catch (error) {
    if (!stop.aborted) throw error
  }
}

/** Number of entities that differed from the source. */
export const differences = (outcomes: Found): number =>
  [...outcomes.values()].reduce((sum, { added, changed, removed }) => sum + added + changed + removed, 0)

type Counts = Pick<Changes, 'added' | 'changed' | 'removed'>

/** All dataclasses together: `3 entities added, 1 changed`. */
export function describe(outcomes: Found): string {
  const sum = { added: 0, changed: 0, removed: 0 }
  for (const each of outcomes.values())
    for (const name of ['added', 'changed', 'removed'] as const) sum[name] += each[name]
  const parts = [`${quantity(sum.added, 'entity', 'entities')} added`, sum.changed > 0 && `${sum.changed} changed`]
  return [...parts, sum.removed > 0 && `${sum.removed} removed`].filter(Boolean).join(', ')
}

/** Each dataclass with changes: `Book: 3 added, 1 changed; Author: 1 removed`. */
function describeEach(outcomes: Found): string {
  const counts = (each: Counts): string =>
    (['added', 'changed', 'removed'] as const)
      .flatMap(name => (each[name] > 0 ? `${each[name]} ${name}` : []))
      .join(', ')
  return [...outcomes].flatMap(([{ name }, each]) => (counts(each) === '' ? [] : `${name}: ${counts(each)}`)).join('; ')
}

export function describeRefused({ name }: ClassPlan, { refusals }: Changes): string {
  const [first] = refusals.values()
  return `${name}: ${quantity(refusals.size, 'entity', 'entities')} cannot be saved, such as ${first!.key}: ${first!.reason}`
}
