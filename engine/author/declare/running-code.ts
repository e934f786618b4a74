import type { Member } from './members.ts'

/** Names of code of a plugin, for log lines. */
export interface CodePlace {
  readonly plugin?: string | undefined
  readonly class?: string
  /** A function, or the method that answers for an attribute. */
  readonly function?: string
  readonly event?: string
  /** A calculated attribute, or the one that an event is of. */
  readonly attribute?: string
}

/** Innermost code of a plugin that runs in this thread. */
let running: CodePlace | undefined
/** Calls of {@link asCode} that have not returned. */
let depth = 0
let observe: (isRunning: boolean) => void = () => {}
/** Place at which each error was first thrown: errors pass through the code of their callers. */
const places = new WeakMap<object, CodePlace>()

export const runningCode = (): CodePlace | undefined => running

/** Place of the code that threw, where it is known. */
export const placeOfFault = (thrown: unknown): CodePlace | undefined =>
  typeof thrown === 'object' && thrown !== null ? places.get(thrown) : undefined

/** Has `observer` called whenever code of a plugin begins or ends to run in this thread. It is called for the outermost code only. */
export function observeCode(observer: (isRunning: boolean) => void): void {
  observe = observer
}

/** Runs what may call code of a plugin whose names are unknown, such as accessors of a value that it has made. */
export function asCode<T>(work: () => T): T {
  if (depth++ === 0) observe(true)
  try {
    return work()
  } finally {
    if (--depth === 0) observe(false)
  }
}

/** Runs code of a plugin under its names. */
export function runAs<T>(place: CodePlace, work: () => T): T {
  const outer = running
  running = place
  try {
    return asCode(work)
  } catch (error) {
    if (typeof error === 'object' && error !== null && !places.has(error)) places.set(error, place)
    throw error
  } finally {
    running = outer
  }
}

/** @param className as its author wrote it */
export function placeOf(member: Member, className: string): CodePlace {
  const { plugin, name } = member
  const code = { plugin, class: className }
  switch (member.kind) {
    case 'function':
      return { ...code, function: name }
    case 'calculated':
      return { ...code, attribute: name }
    case 'event': {
      const { event, attribute } = member
      return { ...code, function: name, event, ...(attribute !== undefined && { attribute }) }
    }
    case 'queryOf':
    case 'orderByOf':
      return { ...code, function: name, attribute: member.attribute }
  }
}
