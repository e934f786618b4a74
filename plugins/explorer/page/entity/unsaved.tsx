import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { go } from '../base/place.ts'
import { Dialog } from '../components/dialog.tsx'
import { abandoned, draft, isChanged } from './draft.ts'
import { labelText } from './load-entity.ts'
import { text } from './texts.ts'

/** Asks what to do with changes when another place is shown before they are saved. They stay until there is an answer. */
function UnsavedChanges() {
  const left = abandoned.value
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (draft.value && isChanged(draft.value)) event.preventDefault()
    }
    addEventListener('beforeunload', onUnload)
    return () => removeEventListener('beforeunload', onUnload)
  }, [])
  if (!left) return null
  const { dataClass, base, link } = left
  const label = base ? labelText(dataClass, base, base.__KEY) : text('newOf', { name: dataClass.name })
  return (
    <Dialog title={text('unsaved')} onClose={() => go(link)}>
      <p>{text('unsavedHint', { label })}</p>
      <div class="foot">
        <button type="button" class="main" onClick={() => go(link)}>
          {text('keepEditing')}
        </button>
        <button
          type="button"
          onClick={() => {
            draft.value = undefined
          }}
        >
          {text('discard')}
        </button>
      </div>
    </Dialog>
  )
}

/** Beside the page, since it has to be there when the panel is not. */
const host = document.createElement('div')
document.body.append(host)
render(<UnsavedChanges />, host)
