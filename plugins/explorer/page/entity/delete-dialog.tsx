import { useSignal } from '@preact/signals'
import type { DataClass } from '../base/catalog.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { hasWritten } from '../base/writes.ts'
import { close } from './close.ts'
import type { Entity } from './load-entity.ts'
import { deleteEntity, isStale } from './save.ts'
import { text } from './texts.ts'

interface DeleteProps {
  readonly dataClass: DataClass
  /** The shown version, which is the only one that is deleted. */
  readonly entity: Entity
  readonly label: string
  readonly onClose: () => void
}

/** Asks before an entity is deleted, and shows the reason if it cannot be deleted. */
export function DeleteDialog({ dataClass, entity, label, onClose }: DeleteProps) {
  const error = useSignal<unknown>(undefined)
  const isDeleting = useSignal(false)
  const run = (): void => {
    isDeleting.value = true
    deleteEntity(dataClass, entity).then(
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
  const hasChanged = isStale(error.value)
  const showNow = (): void => {
    hasWritten(dataClass.name)
    onClose()
  }
  return (
    <Dialog title={text('deleteOne', { label })} onClose={onClose}>
      <p>{text('deleteHint')}</p>
      {error.value !== undefined && <Fault error={hasChanged ? new Error(text('changedSince')) : error.value} />}
      <div class="foot">
        {hasChanged ? (
          <button type="button" class="main" onClick={showNow}>
            {text('showNow')}
          </button>
        ) : (
          <button type="button" class="main danger" disabled={isDeleting.value} onClick={run}>
            {text('delete')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {text('cancel')}
        </button>
      </div>
    </Dialog>
  )
}
