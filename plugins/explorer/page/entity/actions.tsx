import { useSignal } from '@preact/signals'
import { choice, countChosen, shownSet } from '../base/chosen.ts'
import { linkWith } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { lazy } from '../shell/lazy.tsx'
import { text } from './action-texts.ts'

const DeleteChosen = lazy(async () => (await import('./delete-chosen.tsx')).DeleteChosen)
const Paste = lazy(async () => (await import('../paste/paste-dialog.tsx')).PasteDialog)

/** Actions in the title that change a dataclass. */
export function EntityActions() {
  const dialog = useSignal<'delete' | 'paste' | undefined>(undefined)
  const { dataClass } = selection.value!
  const count = countChosen(choice.value, shownSet.value?.count ?? 0)
  const close = (): void => {
    dialog.value = undefined
  }
  return (
    <>
      {count > 0 && (
        <button
          type="button"
          onClick={() => {
            dialog.value = 'delete'
          }}
        >
          {text('deleteChosen', { count })}
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          dialog.value = 'paste'
        }}
      >
        {text('paste')}
      </button>
      <a class="button" href={linkWith({ entity: undefined, trail: undefined, edit: 'new' })}>
        {text('new')}
      </a>
      {dialog.value === 'delete' && <DeleteChosen dataClass={dataClass} onClose={close} />}
      {dialog.value === 'paste' && <Paste dataClass={dataClass} onClose={close} />}
    </>
  )
}
