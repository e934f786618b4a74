import { useEffect, useState } from 'preact/hooks'
import { isAbort, read } from '../base/rest.ts'
import { pathOf, type Selection } from '../base/selection.ts'

/** Delay between the last keystroke and the request. */
const PAUSE_MS = 75
/** Time after which the request is aborted, which ends the query on the server too. */
const PATIENCE_MS = 5_000

/** The server's verdict on a filter that is being written. */
export type Check =
  | { readonly kind: 'none' | 'pending' | 'late' }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly filter: string }

/** Requests the number of entities that a filter finds. */
export function useCheck(selection: Selection, filter: string): Check {
  const [check, setCheck] = useState<Check>({ kind: 'none' })
  const { dataClass, set } = selection
  useEffect(() => {
    if (filter.trim() === '') return setCheck({ kind: 'none' })
    const controller = new AbortController()
    const pause = setTimeout(() => {
      const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(PATIENCE_MS)])
      count(selection, filter, signal).then(
        total => controller.signal.aborted || setCheck({ kind: 'count', count: total }),
        (error: unknown) => {
          if (controller.signal.aborted) return
          setCheck(isLate(error) ? { kind: 'late' } : { kind: 'error', error, filter })
        },
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(pause)
      controller.abort()
      setCheck(before => (before.kind === 'error' ? before : { kind: 'pending' }))
    }
  }, [dataClass, set, filter])
  return check
}

async function count(selection: Selection, filter: string, signal: AbortSignal): Promise<number> {
  const { __COUNT } = await read<{ __COUNT: number }>(pathOf(selection), { $filter: `"${filter}"`, $top: 0 }, signal)
  return __COUNT
}

const isLate = (error: unknown): boolean =>
  isAbort(error) || (error instanceof DOMException && error.name === 'TimeoutError')
