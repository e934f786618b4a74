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
  /** The share of the work that `load` has reported, from 0 to 1. A signal, so that nothing else is drawn again. */
  readonly progress: ReadonlySignal<number | undefined>
  readonly cancel: () => void
  readonly again: () => void
}

const IDLE = { result: undefined, error: undefined, isLoading: false, isCancelled: false }

/**
 * The result of `load`, asked for again when one of `inputs` changes; the request before is given up then. Until the next answer
 * has come the last one stays.
 */
export function useAnswer<Result>(
  load: (signal: AbortSignal, report: (progress: number) => void) => Promise<Result>,
  inputs: readonly unknown[],
): Awaited<Result> {
  const [state, setState] = useState<State<Result>>({ ...IDLE, isLoading: true })
  const [times, setTimes] = useState(0)
  const progress = useSignal<number | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    running.current = controller
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
      running.current?.abort()
      // The answer before it belongs to another question.
      setState({ ...IDLE, isCancelled: true })
    },
    again: () => setTimes(times + 1),
  }
}
