import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Selection } from '../base/selection.ts'
import { notify } from '../base/work.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { EXPORT_FORMATS, type ExportFormat, exportSelection, shownPaths } from './export.ts'
import { text } from './texts.ts'
import './transfer.css'

interface ExportProps {
  readonly selection: Selection
  readonly onClose: () => void
}

/** Saves the shown selection as a file: its format, and which attributes. */
export function ExportDialog({ selection, onClose }: ExportProps) {
  const { name } = selection.dataClass
  const isStarting = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const paths = shownPaths(selection)
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const format = form.get('format') as ExportFormat
    isStarting.value = true
    exportSelection(selection, format, form.get('attributes') === 'all' ? undefined : paths).then(
      () => {
        notify(text('saving', { name, format: format.toUpperCase() }))
        onClose()
      },
      (fault: unknown) => {
        error.value = fault
        isStarting.value = false
      },
    )
  }
  return (
    <Dialog title={text('exportTitle', { name })} onClose={onClose}>
      <form class="export stack" onSubmit={submit}>
        <p class="hint">{text('exportHint')}</p>
        <fieldset>
          <legend>{text('format')}</legend>
          {EXPORT_FORMATS.map((format, at) => (
            <Choice key={format} name="format" value={format} isFirst={at === 0}>
              {text(format)}
            </Choice>
          ))}
        </fieldset>
        <fieldset>
          <legend>{text('attributes')}</legend>
          <Choice name="attributes" value="shown" isFirst>
            {text('ofGrid')} <small>{paths.join(', ')}</small>
          </Choice>
          <Choice name="attributes" value="all">
            {text('all')}
          </Choice>
        </fieldset>
        {error.value !== undefined && <Fault error={error.value} />}
        <button type="submit" class="main" disabled={isStarting.value}>
          {text('export')}
        </button>
      </form>
    </Dialog>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: string
  readonly isFirst?: boolean
  readonly children: ComponentChildren
}

const Choice = ({ name, value, isFirst = false, children }: ChoiceProps) => (
  <label>
    <input type="radio" name={name} value={value} defaultChecked={isFirst} />
    <span>{children}</span>
  </label>
)
