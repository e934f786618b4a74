import type { CodePlace } from './code-place.ts'
import { codeContext, inContext } from './running-call.ts'

/** Innermost plugin code that is running in this thread. */
let runningPlace: CodePlace | undefined
/** Calls of {@link asCode} that have not returned. */
let depth = 0
let observe: (isRunning: boolean) => void = () => {}
/** Place at which each error was first thrown: errors pass through the code of their callers. */
const places = new WeakMap<object, CodePlace>()

export const runningCode = (): CodePlace | undefined => runningPlace ?? codeContext()?.place

/** Place of the code that threw, if known. */
export const placeOfFault = (exception: unknown): CodePlace | undefined =>
  typeof exception === 'object' && exception !== null ? places.get(exception) : undefined

/** Sets the place of an error of plugin code that is not thrown in it. */
export function at<E extends object>(place: CodePlace, error: E): E {
  places.set(error, place)
  return error
}

/** Calls `observer` when plugin code starts or stops running in this thread; for the outermost code only. */
export function observeCode(observer: (isRunning: boolean) => void): void {
  observe = observer
}

/** Runs work that may call plugin code without a known name, such as accessors of a value from plugin code. */
export function asCode<T>(work: () => T): T {
  if (depth++ === 0) observe(true)
  try {
    return work()
  } finally {
    if (--depth === 0) observe(false)
  }
}

/** Runs plugin code, with its place for errors and log lines. */
export function runAs<T>(place: CodePlace, work: () => T): T {
  const outer = runningPlace
  runningPlace = place
  try {
    return asCode(work)
  } catch (error) {
    if (typeof error === 'object' && error !== null && !places.has(error)) places.set(error, place)
    throw error
  } finally {
    runningPlace = outer
  }
}

/** Runs plugin code that may wait; its place also applies to what it does after an await. */
export const startAs = <T>(place: CodePlace, work: () => T): T => inContext({ place }, () => runAs(place, work))
