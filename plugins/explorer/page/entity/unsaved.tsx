import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { go } from '../base/place.ts'
import { Dialog } from '../components/dialog.tsx'
import { abandonedDraft, draft, isChanged } from './draft.ts'
import { labelText } from './load-entity.ts'
import { text } from './texts.ts'

/** Asks what to do with unsaved changes when another place is shown. They are kept until the user has answered. */
function UnsavedChanges() {
  const lostDraft = abandonedDraft.value
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (draft.value && isChanged(draft.value)) event.preventDefault()
    }
    addEventListener('beforeunload', onUnload)
    return () => removeEventListener('beforeunload', onUnload)
  }, [])
  if (!lostDraft) return null
  const { dataClass, base, link } = lostDraft
  const label = base ? labelText(dataClass, base.entity, base.entity.__KEY) : text('newOf', { name: dataClass.name })
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

/** Outside the page's tree, since it must be present even without the panel. */
const host = document.createElement('div')
document.body.append(host)
render(<UnsavedChanges />, host)
