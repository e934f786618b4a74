import { batch, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { DataClass } from '../base/catalog.ts'
import { ask } from '../base/rest.ts'
import { complain, notify, runWork, works } from '../base/work.ts'
import { hasWritten } from '../base/writes.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import type { FileFormat } from './file-format.ts'
import { ImportOptionFields } from './import-options.tsx'
import { downloadRejected, type Finished, ImportReport, summaryOf } from './import-report.tsx'
import { type ImportOptions, previewFile, sendFile } from './import-request.ts'
import { mappedTwice, type Mapping } from './mapping.ts'
import { PreviewTable } from './preview-table.tsx'
import { text } from './texts.ts'

interface FileProps {
  readonly dataClass: DataClass
  readonly file: File
  readonly format: FileFormat
  readonly onBack: () => void
  readonly onClose: () => void
}

/** A file whose columns are mapped, and whose rows are previewed, tried and imported. */
export function FileImport({ dataClass, file, format, onBack, onClose }: FileProps) {
  const { name } = dataClass
  const options = useSignal<ImportOptions>({ ...DEFAULTS, format })
  /** Undefined until the user changes what is proposed. */
  const chosenMapping = useSignal<Mapping | undefined>(undefined)
  const { result, error, isLoading, again } = useAnswer(
    signal => previewFile(dataClass, file, options.value, chosenMapping.value, signal),
    [options.value, chosenMapping.value],
  )
  const finishedImport = useSignal<Finished | undefined>(undefined)
  const fault = useSignal<unknown>(undefined)
  const rows = useSignal(0)
  const isShown = useIsShown()
  const work = works.value.find(({ title }) => title === titleOf(file))

  const change = (next: Partial<ImportOptions>, mapping: Mapping | undefined): void =>
    batch(() => {
      options.value = { ...options.value, ...next }
      chosenMapping.value = mapping
      finishedImport.value = undefined
    })
  const run = async (isTrial: boolean, mapping: Mapping): Promise<void> => {
    batch(() => {
      finishedImport.value = undefined
      fault.value = undefined
      rows.value = 0
    })
    try {
      const before = isTrial ? undefined : await stampOf(name)
      const outcome = await runWork(titleOf(file), ({ signal, report }) =>
        sendFile({
          dataClass: name,
          file,
          options: options.value,
          mapping,
          isTrial,
          signal,
          report,
          onRead: count => {
            rows.value = count
          },
        }),
      )
      if (!isTrial) hasWritten(name)
      if (!outcome) return notify(text('cancelled'))
      finishedImport.value = { outcome, before }
      if (!isShown.current) tell(file, finishedImport.value)
    } catch (exception) {
      if (!isTrial) hasWritten(name)
      if (isShown.current) fault.value = exception
      else complain(exception)
    }
  }

  // A change takes effect immediately, before its preview arrives: the user may make the next change first.
  const mapping = chosenMapping.value ?? result?.mapping
  const twice = mapping ? mappedTwice(mapping) : []
  const isSaved = finishedImport.value !== undefined && !finishedImport.value.outcome.trial
  const isReady = result !== undefined && error === undefined && !isLoading && !work && twice.length === 0
  const isEmpty = options.value.format === 'csv' && !result?.preview.columns.some(each => mapping?.[each.name])
  return (
    <>
      <p class="hint">{file.name}</p>
      {!isSaved && (
        <ImportOptionFields
          options={options.value}
          preview={result?.preview}
          onChange={next => change(next, changesColumns(next) ? undefined : chosenMapping.value)}
        />
      )}
      {error !== undefined && <Fault error={error} again={again} />}
      {twice.length > 0 && (
        <p class="fault" role="alert">
          {text('twice', { names: twice.join(', ') })}
        </p>
      )}
      {result && error === undefined && !finishedImport.value && (
        <PreviewTable
          dataClass={dataClass}
          preview={result.preview}
          mapping={options.value.format === 'csv' ? mapping : undefined}
          onChange={next => change({}, next)}
        />
      )}
      {finishedImport.value && (
        <ImportReport dataClass={dataClass} file={file} {...finishedImport.value} onClose={onClose} />
      )}
      {fault.value !== undefined && <Fault error={fault.value} />}
      {work && (
        <div class="row">
          <label>
            {work.title} <progress value={work.progress} />
          </label>
          <span role="status">{text('read', { count: rows.value })}</span>
          <button type="button" onClick={work.cancel}>
            {text('cancel')}
          </button>
        </div>
      )}
      <div class="foot">
        {!isSaved && (
          <>
            <button type="button" disabled={!isReady || isEmpty} onClick={() => void run(true, mapping!)}>
              {text('try')}
            </button>
            <button type="button" class="main" disabled={!isReady || isEmpty} onClick={() => void run(false, mapping!)}>
              {text('import')}
            </button>
          </>
        )}
        <button type="button" disabled={work !== undefined} onClick={onBack}>
          {text('another')}
        </button>
        <button type="button" onClick={onClose}>
          {text('close')}
        </button>
      </div>
    </>
  )
}

const DEFAULTS = { existing: 'reject', delimiter: '', decimal: '', dates: '', encoding: '' } as const

/** True if the changed options affect which columns the file has. */
const changesColumns = ({ format, delimiter, encoding }: Partial<ImportOptions>): boolean =>
  (format ?? delimiter ?? encoding) !== undefined

const titleOf = ({ name }: File): string => text('running', { name })

/** A reference that is true until the component is removed. */
function useIsShown(): { readonly current: boolean } {
  const isShown = useRef(true)
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  return isShown
}

/** Stamp of the last change before an import; undefined if the user may not read the dataclass. */
const stampOf = (dataClass: string): Promise<number | undefined> =>
  ask<{ readonly __GlobalStamp?: number }>(dataClass, { $top: 0 }).then(
    answer => answer.__GlobalStamp,
    () => undefined,
  )

/** Reports the outcome of an import whose dialog has been closed. */
function tell(file: File, { outcome }: Finished): void {
  const { length } = outcome.rejectedLines
  notify(
    summaryOf(outcome),
    length === 0
      ? undefined
      : { label: text('download', { count: length }), run: () => downloadRejected(file, outcome) },
  )
}
