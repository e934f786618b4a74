import { useSignal } from '@preact/signals'
import type { DataClass } from '../base/catalog.ts'
import { Dialog } from '../components/dialog.tsx'
import { FileImport } from './file-import.tsx'
import { formatOf, isForeign } from './file-format.ts'
import { text } from './texts.ts'
import '../components/table-dialog.css'
import './transfer.css'

interface ImportProps {
  readonly dataClass: DataClass
  /** File that was dropped onto the view. */
  readonly droppedFile: File | undefined
  readonly onClose: () => void
}

/** Turns the rows of a file into entities: a file is chosen or dropped, previewed, tried, and imported. */
export function ImportDialog({ dataClass, droppedFile, onClose }: ImportProps) {
  const file = useSignal(droppedFile)
  const take = (next: File | undefined): void => {
    file.value = next
  }
  const isUsable = file.value !== undefined && !isForeign(file.value.name)
  return (
    <Dialog title={text('importTitle', { name: dataClass.name })} onClose={onClose}>
      <div class="table-dialog import">
        {file.value && isUsable ? (
          <FileImport
            dataClass={dataClass}
            file={file.value}
            format={formatOf(file.value.name)}
            onBack={() => take(undefined)}
            onClose={onClose}
          />
        ) : (
          <>
            <ChooseFile onFile={take} />
            {file.value && (
              <p class="fault" role="alert">
                {text('foreign', { name: file.value.name })}
              </p>
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

const ChooseFile = ({ onFile }: { readonly onFile: (file: File | undefined) => void }) => (
  <fieldset
    aria-label={text('file')}
    onDragOver={event => event.preventDefault()}
    onDrop={event => {
      event.preventDefault()
      onFile(event.dataTransfer?.files[0])
    }}
  >
    <label for="imported">{text('choose')}</label>
    <input
      id="imported"
      type="file"
      accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,text/csv,text/tab-separated-values,text/plain,application/json"
      onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])}
    />
  </fieldset>
)
