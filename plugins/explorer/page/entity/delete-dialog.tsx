import { useSignal } from '@preact/signals'
import type { DataClass } from '../base/catalog.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { close } from './close.ts'
import { deleteEntity } from './save.ts'
import { text } from './texts.ts'

interface DeleteProps {
  readonly dataClass: DataClass
  readonly entityKey: string
  readonly label: string
  readonly onClose: () => void
}

/** Asks before an entity is deleted, and says why it cannot be. */
export function DeleteDialog({ dataClass, entityKey, label, onClose }: DeleteProps) {
  const error = useSignal<unknown>(undefined)
  const isDeleting = useSignal(false)
  const run = (): void => {
    isDeleting.value = true
    deleteEntity(dataClass, entityKey).then(
      () => {
        onClose()
        close()
      },
      (fault: unknown) => {
        error.value = fault
        isDeleting.value = false
      },
    )
  }
  return (
    <Dialog title={text('deleteOne', { label })} onClose={onClose}>
      <p>{text('deleteHint')}</p>
      {error.value !== undefined && <Fault error={error.value} />}
      <div class="foot">
        <button type="button" class="main danger" disabled={isDeleting.value} onClick={run}>
          {text('delete')}
        </button>
        <button type="button" onClick={onClose}>
          {text('cancel')}
        </button>
      </div>
    </Dialog>
  )
}
