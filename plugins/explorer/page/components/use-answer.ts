import { useEffect, useState } from 'preact/hooks'
import { isAbort } from '../base/rest.ts'

interface Awaited<Result> {
  readonly result: Result | undefined
  readonly error: unknown
  readonly isLoading: boolean
}

interface Asked<Result> extends Awaited<Result> {
  /** Asks once more for the same. */
  readonly again: () => void
}

/**
 * The result of `load`, asked for again when one of `inputs` changes; the request before is given up then. Until the next answer
 * has come the last one stays.
 */
export function useAnswer<Result>(
  load: (signal: AbortSignal) => Promise<Result>,
  inputs: readonly unknown[],
): Asked<Result> {
  const [state, setState] = useState<Awaited<Result>>({ result: undefined, error: undefined, isLoading: true })
  const [times, setTimes] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState(before => ({ ...before, isLoading: true }))
    load(controller.signal).then(
      result => controller.signal.aborted || setState({ result, error: undefined, isLoading: false }),
      (error: unknown) =>
        isAbort(error) || controller.signal.aborted || setState({ result: undefined, error, isLoading: false }),
    )
    return () => controller.abort()
  }, [...inputs, times])
  return { ...state, again: () => setTimes(before => before + 1) }
}
