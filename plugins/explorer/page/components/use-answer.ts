import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isAbort } from '../base/rest.ts'

interface State<Result> {
  readonly result: Result | undefined
  readonly error: unknown
  readonly isLoading: boolean
  readonly isCancelled: boolean
}

interface Awaited<Result> extends State<Result> {
  /** Fraction of the work that `load` has reported, from 0 to 1. A signal, so that nothing else is rendered again. */
  readonly progress: ReadonlySignal<number | undefined>
  readonly cancel: () => void
  readonly again: () => void
}

const IDLE = { result: undefined, error: undefined, isLoading: false, isCancelled: false }

/**
 * The result of `load`, requested again when one of `inputs` changes, which aborts the previous request. The last result
 * remains until the next one arrives.
 */
export function useAnswer<Result>(
  load: (signal: AbortSignal, report: (progress: number) => void) => Promise<Result>,
  inputs: readonly unknown[],
): Awaited<Result> {
  const [state, setState] = useState<State<Result>>({ ...IDLE, isLoading: true })
  const [times, setTimes] = useState(0)
  const progress = useSignal<number | undefined>(undefined)
  const activeController = useRef<AbortController | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    activeController.current = controller
    progress.value = undefined
    setState(before => ({ ...before, isLoading: true, isCancelled: false }))
    const report = (share: number): void => {
      if (!signal.aborted) progress.value = share
    }
    load(signal, report).then(
      result => signal.aborted || setState({ ...IDLE, result }),
      (error: unknown) => isAbort(error) || signal.aborted || setState({ ...IDLE, error }),
    )
    return () => controller.abort()
  }, [...inputs, times])
  return {
    ...state,
    progress,
    cancel: () => {
      activeController.current?.abort()
      // The previous result belongs to a different request.
      setState({ ...IDLE, isCancelled: true })
    },
    again: () => setTimes(times + 1),
  }
}
