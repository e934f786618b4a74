import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { selection } from '../base/selection.ts'
import { text } from '../entity/action-texts.ts'
import { lazy } from '../shell/lazy.tsx'
import { mayImport } from './may-import.ts'

const ImportDialog = lazy(async () => (await import('./import-dialog.tsx')).ImportDialog)

/** Opens the import of a file, which is chosen there, or dropped onto the view of a dataclass. */
export function ImportAction() {
  const dialog = useSignal<{ readonly file: File | undefined } | undefined>(undefined)
  const open = (file: File | undefined): void => {
    dialog.value = { file }
  }
  useEffect(() => (mayImport.value ? acceptFiles(open) : undefined), [mayImport.value])
  const currentSelection = selection.value
  if (!mayImport.value || !currentSelection) return null
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => open(undefined)}>
        {text('import')}
      </button>
      {dialog.value && (
        <ImportDialog
          dataClass={currentSelection.dataClass}
          droppedFile={dialog.value.file}
          onClose={() => {
            dialog.value = undefined
          }}
        />
      )}
    </>
  )
}

/** Receives files that are dropped onto the view. @returns a function that ends this */
function acceptFiles(receive: (file: File) => void): () => void {
  const controller = new AbortController()
  const { signal } = controller
  let markedView: Element | undefined
  const mark = (view: Element | undefined): void => {
    markedView?.classList.remove('dropping')
    markedView = view
    view?.classList.add('dropping')
  }
  const over = (event: DragEvent): void => {
    mark(viewOf(event))
    if (markedView) event.preventDefault()
  }
  const drop = (event: DragEvent): void => {
    const file = viewOf(event) && event.dataTransfer?.files[0]
    mark(undefined)
    if (!file) return
    event.preventDefault()
    receive(file)
  }
  document.addEventListener('dragover', over, { signal })
  document.addEventListener('dragleave', () => mark(undefined), { signal })
  document.addEventListener('drop', drop, { signal })
  return () => {
    mark(undefined)
    controller.abort()
  }
}

/** The view onto which files are dragged; undefined for anything else. */
function viewOf({ target, dataTransfer }: DragEvent): Element | undefined {
  if (!(target instanceof Element) || !dataTransfer?.types.includes('Files')) return undefined
  const place = target.closest('dialog, .view')
  return place?.matches('.view') ? place : undefined
}
