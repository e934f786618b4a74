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
  // The choice when the dialog was opened; it becomes empty when its entities are deleted.
  const what = useSignal({
    chosen: choice.value,
    count: countChosen(choice.value, set?.count ?? 0),
    set: set?.id,
  }).value

  const run = async (): Promise<void> => {
    isDeleting.value = true
    const made: DeleteReport = { deleted: 0, failed: [] }
    try {
      await runWork(text('deleting', { name: dataClass.name }), work =>
        deleteMany(dataClass, keysOf(dataClass, what.chosen, what.set, work.signal), what.count, made, work),
      )
    } catch (fault) {
      error.value = fault
    }
    report.value = made
    choice.value = NONE_CHOSEN
    hasWritten(dataClass.name)
  }
  const done = report.value
  return (
    <Dialog title={text('deleteMany', { count: what.count, name: dataClass.name })} onClose={onClose}>
      {done ? (
        <p role="status">
          {text('deletedMany', { count: done.deleted })}{' '}
          {done.failed.length > 0 && text('notDeleted', { count: done.failed.length })}
        </p>
      ) : (
        <p>{text('deleteManyHint')}</p>
      )}
      {error.value !== undefined && <Fault error={error.value} />}
      {done && done.failed.length > 0 && (
        <ul class="failures">
          {done.failed.slice(0, LISTED).map(({ key, error }) => (
            <li key={key}>
              <b>{key}</b> {error.message}
            </li>
          ))}
        </ul>
      )}
      <div class="foot">
        {done === undefined && (
          <button type="button" class="main danger" disabled={isDeleting.value} onClick={() => void run()}>
            {text('delete')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {text(done ? 'close' : 'cancel')}
        </button>
      </div>
    </Dialog>
  )
}
