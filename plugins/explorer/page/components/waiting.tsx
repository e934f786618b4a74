import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { text } from './texts.ts'
import './waiting.css'

interface WaitingProps {
  /** Name of the work that the user waits for. */
  readonly label: string
  readonly isLoading: boolean
  readonly isCancelled: boolean
  /** From 0 to 1; undefined where the end is not known. */
  readonly progress?: ReadonlySignal<number | undefined>
  readonly cancel: () => void
  /** Asks once more after it was cancelled. */
  readonly again?: () => void
  /** Sentence for when the answer is there. */
  readonly children?: ComponentChildren
}

/** How far an answer is that may take long, with a way to give it up. */
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
