import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { text } from './texts.ts'
import './waiting.css'

interface WaitingProps {
  /** Name of the pending work. */
  readonly label: string
  readonly isLoading: boolean
  readonly isCancelled: boolean
  /** From 0 to 1; undefined if the end is not known. */
  readonly progress?: ReadonlySignal<number | undefined>
  readonly cancel: () => void
  /** Sends the request again after it was cancelled. */
  readonly again?: () => void
  /** Sentence that is shown with the answer. */
  readonly children?: ComponentChildren
}

/** Progress of an answer that may take long, with a way to cancel it. */
export function Waiting({ label, isLoading, isCancelled, progress, cancel, again, children }: WaitingProps) {
  return (
    <div class="waiting hint">
      <span role="status">{isLoading ? label : isCancelled ? text('cancelled') : children}</span>
      {isLoading && (
        <>
          <progress aria-label={label} value={progress?.value} />
          <button type="button" class="cancel" onClick={cancel}>
            {text('cancel')}
          </button>
        </>
      )}
      {isCancelled && again && (
        <button type="button" onClick={again}>
          {text('again')}
        </button>
      )}
    </div>
  )
}
