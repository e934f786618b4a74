import { useSignal } from '@preact/signals'
import { choice, countChosen, NONE_CHOSEN, shownSet } from '../base/chosen.ts'
import type { DataClass } from '../base/catalog.ts'
import { runWork } from '../base/work.ts'
import { hasWritten } from '../base/writes.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { type DeleteReport, deleteMany, keysOf } from './delete-many.ts'
import { text } from './texts.ts'
import './entity.css'

/** Maximum number of listed failures. */
const LISTED = 100

interface DeleteChosenProps {
  readonly dataClass: DataClass
  readonly onClose: () => void
}

/** Asks before the chosen entities are deleted, and reports those that could not be deleted. */
export function DeleteChosen({ dataClass, onClose }: DeleteChosenProps) {
  const report = useSignal<DeleteReport | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isDeleting = useSignal(false)
  const set = shownSet.value
  // The selection when the dialog was opened; the current selection becomes empty when its entities are deleted.
  const what = useSignal({
    chosen: choice.value,
    count: countChosen(choice.value, set?.count ?? 0),
    set: set?.id,
  }).value

  const run = async (): Promise<void> => {
    isDeleting.value = true
    const newReport: DeleteReport = { count: 0, failures: [] }
    try {
      await runWork(text('deleting', { name: dataClass.name }), work =>
        deleteMany(dataClass, keysOf(dataClass, what.chosen, what.set, work.signal), what.count, newReport, work),
      )
    } catch (fault) {
      error.value = fault
    }
    report.value = newReport
    choice.value = NONE_CHOSEN
    hasWritten(dataClass.name)
  }
  const result = report.value
  return (
    <Dialog title={text('deleteMany', { count: what.count, name: dataClass.name })} onClose={onClose}>
      {result ? (
        <p role="status">
          {text('deletedMany', { count: result.count })}{' '}
          {result.failures.length > 0 && text('notDeleted', { count: result.failures.length })}
        </p>
      ) : (
        <p>{text('deleteManyHint')}</p>
      )}
      {error.value !== undefined && <Fault error={error.value} />}
      {result && result.failures.length > 0 && (
        <ul class="failures">
          {result.failures.slice(0, LISTED).map(({ key, error }) => (
            <li key={key}>
              <b>{key}</b> {error.message}
            </li>
          ))}
        </ul>
      )}
      <div class="foot">
        {result === undefined && (
          <button type="button" class="main danger" disabled={isDeleting.value} onClick={() => void run()}>
            {text('delete')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {text(result ? 'close' : 'cancel')}
        </button>
      </div>
    </Dialog>
  )
}
