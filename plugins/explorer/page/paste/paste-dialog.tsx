import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { attributeOf, type DataClass } from '../base/catalog.ts'
import { download } from '../base/download.ts'
import { decimalSign } from '../base/texts.ts'
import { runWork } from '../base/work.ts'
import { hasWritten } from '../base/writes.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { deleteMany, type DeleteReport, keysOf } from '../entity/delete-many.ts'
import { offerUndo } from '../entity/save.ts'
import { type ConvertedRow, convertRow, ERROR_COLUMN, mapColumns, type Mapping, targetsOf } from './columns.ts'
import { type PasteReport, sendRows } from './run-paste.ts'
import { type Cells, parseTable, writeTable } from './table.ts'
import { text } from './texts.ts'
import '../components/table-dialog.css'

/** Maximum number of shown rows. */
const SHOWN = 50
const MAX_CHARACTERS = 20_000_000

interface PasteProps {
  readonly dataClass: DataClass
  readonly onClose: () => void
}

type Rows = readonly Cells[]

/** Turns a table into entities: pasted or dropped, mapped to attributes, checked, saved, and reported row by row. */
export function PasteDialog({ dataClass, onClose }: PasteProps) {
  const table = useSignal<{ readonly rows: Rows; readonly mapping: Mapping } | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const take = (pasted: string): void => {
    error.value = undefined
    if (pasted.length > MAX_CHARACTERS) {
      error.value = new Error(text('tooLarge', { count: MAX_CHARACTERS }))
      return
    }
    const rows = parseTable(pasted)
    table.value = rows.length > 0 ? { rows, mapping: mapColumns(rows, dataClass) } : undefined
  }
  const takeFile = (file: File | undefined): void => {
    file?.text().then(take, (fault: unknown) => {
      error.value = fault
    })
  }
  return (
    <Dialog title={text('title', { name: dataClass.name })} onClose={onClose}>
      <div class="table-dialog">
        {!table.value && (
          <fieldset
            aria-label={text('table')}
            onDragOver={event => event.preventDefault()}
            onDrop={event => {
              event.preventDefault()
              takeFile(event.dataTransfer?.files[0])
            }}
          >
            <label for="pasted">{text('hint')}</label>
            <textarea
              id="pasted"
              rows={8}
              placeholder={targetsOf(dataClass)
                .slice(0, 4)
                .map(({ name }) => name)
                .join('\t')}
              onPaste={event => {
                const pasted = event.clipboardData?.getData('text/plain')
                if (!pasted) return
                event.preventDefault()
                take(pasted)
              }}
              onChange={({ currentTarget }) => take(currentTarget.value)}
            />
            <input
              type="file"
              aria-label={text('file')}
              accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
              onChange={({ currentTarget }) => takeFile(currentTarget.files?.[0])}
            />
          </fieldset>
        )}
        {error.value !== undefined && <Fault error={error.value} />}
        {table.value && (
          <PastedTable
            dataClass={dataClass}
            rows={table.value.rows}
            first={table.value.mapping}
            onBack={() => {
              table.value = undefined
            }}
            onClose={onClose}
          />
        )}
      </div>
    </Dialog>
  )
}

interface TableProps extends PasteProps {
  readonly rows: Rows
  readonly first: Mapping
  readonly onBack: () => void
}

function PastedTable({ dataClass, rows, first, onBack, onClose }: TableProps) {
  const mapping = useSignal(first)
  const updates = useSignal(false)
  const isRunning = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const outcome = useSignal<{ readonly method: 'validate' | 'update'; readonly report: PasteReport } | undefined>(
    undefined,
  )
  const { hasHeader, attributes } = mapping.value
  const data = hasHeader ? rows.slice(1) : rows
  const columns = attributes.map(name => attributeOf(dataClass, name))
  const converted = useMemo(() => data.map(cells => convertRow(cells, columns, decimalSign())), [mapping.value])
  const faults = faultsByRow(converted, outcome.value?.report)
  const isKeyMapped = columns.some(column => column?.identifying)

  const change = (next: Mapping): void => {
    mapping.value = next
    outcome.value = undefined
  }
  const run = async (method: 'validate' | 'update'): Promise<void> => {
    isRunning.value = true
    error.value = undefined
    const report: PasteReport = { good: [], faults: [], created: [] }
    const sentRows = converted.flatMap(({ values, faults }, index) => (faults.length === 0 ? [{ index, values }] : []))
    try {
      await runWork(text(method === 'validate' ? 'checking' : 'saving', { name: dataClass.name }), work =>
        sendRows(dataClass, sentRows, { method, updates: updates.value && isKeyMapped, report }, work),
      )
    } catch (fault) {
      error.value = fault
    }
    outcome.value = { method, report }
    isRunning.value = false
    if (method !== 'update' || report.good.length === 0) return
    hasWritten(dataClass.name)
    offerUndoOf(dataClass, report)
  }
  const isSaved = outcome.value?.method === 'update'
  return (
    <>
      <div class="row">
        <label>
          <input
            type="checkbox"
            checked={hasHeader}
            disabled={isSaved}
            onChange={({ currentTarget }) => change({ ...mapping.value, hasHeader: currentTarget.checked })}
          />{' '}
          {text('hasHeader')}
        </label>
        {isKeyMapped && (
          <label>
            <input
              type="checkbox"
              checked={updates.value}
              disabled={isSaved}
              onChange={({ currentTarget }) => {
                updates.value = currentTarget.checked
                outcome.value = undefined
              }}
            />{' '}
            {text('updates')}
          </label>
        )}
        <span role="status">{statusOf(data.length, faults.size, outcome.value)}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={text('table')}>
        <table>
          <thead>
            <tr>
              <th scope="col">#</th>
              {faults.size > 0 && <th scope="col">{text('problem')}</th>}
              {attributes.map((name, at) => (
                <th key={at} scope="col">
                  {hasHeader && <small>{rows[0]![at]}</small>}
                  <select
                    aria-label={text('column', { number: at + 1 })}
                    value={name}
                    disabled={isSaved}
                    onChange={({ currentTarget }) =>
                      change({ ...mapping.value, attributes: attributes.with(at, currentTarget.value) })
                    }
                  >
                    <option value="">{text('none')}</option>
                    {targetsOf(dataClass).map(target => (
                      <option key={target.name} value={target.name}>
                        {target.name}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shownRows(data.length, faults).map(index => (
              <tr key={index} class={faults.has(index) ? 'wrong' : ''}>
                <th scope="row">{index + 1}</th>
                {faults.size > 0 && <td class="problem">{faults.get(index)}</td>}
                {attributes.map((_, at) => (
                  <td key={at}>{data[index]![at]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {data.length > SHOWN && <small>{text('shown', { shown: SHOWN, count: data.length })}</small>}
      {error.value !== undefined && <Fault error={error.value} />}
      <div class="foot">
        {!isSaved && (
          <>
            <button type="button" disabled={isRunning.value} onClick={() => void run('validate')}>
              {text('check')}
            </button>
            <button
              type="button"
              class="main"
              disabled={isRunning.value || columns.every(column => !column)}
              onClick={() => void run('update')}
            >
              {text('save', { count: converted.filter(({ faults }) => faults.length === 0).length })}
            </button>
          </>
        )}
        {isSaved && faults.size > 0 && (
          <button type="button" class="main" onClick={() => downloadRows(dataClass, rows, mapping.value, faults)}>
            {text('download', { count: faults.size })}
          </button>
        )}
        <button type="button" disabled={isRunning.value} onClick={onBack}>
          {text('another')}
        </button>
        <button type="button" onClick={onClose}>
          {text('close')}
        </button>
      </div>
    </>
  )
}

/** Offers to delete created entities. Changed entities remain: their previous values are not known here. */
function offerUndoOf(dataClass: DataClass, { good, created }: PasteReport): void {
  if (created.length === 0) return
  const changedCount = good.length - created.length
  const message =
    text('created', { count: created.length }) +
    (changedCount > 0 ? ` ${text('changesStay', { count: changedCount })}` : '')
  offerUndo(dataClass, message, async () => {
    const report: DeleteReport = { count: 0, failures: [] }
    await runWork(text('undoing', { name: dataClass.name }), work =>
      deleteMany(
        dataClass,
        keysOf(dataClass, { isAll: false, keys: new Set(created) }, undefined, work.signal),
        created.length,
        report,
        work,
      ),
    )
    const [failure] = report.failures
    return text('removed', { count: report.count }) + (failure ? ` ${failure.error.message}` : '')
  })
}

function statusOf(
  count: number,
  faulty: number,
  outcome: { readonly method: 'validate' | 'update'; readonly report: PasteReport } | undefined,
): string {
  if (!outcome) return text(faulty > 0 ? 'someUnreadable' : 'rows', { count, faulty })
  return text(outcome.method === 'update' ? 'saved' : 'checked', { count: outcome.report.good.length, faulty })
}

/** Messages by row number. */
function faultsByRow(converted: readonly ConvertedRow[], report: PasteReport | undefined): ReadonlyMap<number, string> {
  const faults = new Map<number, string>()
  for (const [index, row] of converted.entries()) {
    if (row.faults.length === 0) continue
    faults.set(index, row.faults.map(({ attribute, code, cell }) => text(code, { attribute, cell })).join(' '))
  }
  for (const { index, message } of report?.faults ?? []) faults.set(index, message)
  return faults
}

/** The rows that are shown: those with problems, then the first others. */
function shownRows(count: number, faults: ReadonlyMap<number, string>): readonly number[] {
  const wrong = [...faults.keys()].sort((a, b) => a - b).slice(0, SHOWN)
  const rowIndexes = new Set(wrong)
  for (let index = 0; index < count && rowIndexes.size < SHOWN; index++) rowIndexes.add(index)
  return [...rowIndexes]
}

/** Downloads the rows that were not saved, as a file that can be corrected and pasted again. */
function downloadRows(dataClass: DataClass, rows: Rows, mapping: Mapping, faults: ReadonlyMap<number, string>): void {
  const data = mapping.hasHeader ? rows.slice(1) : rows
  const header = mapping.attributes.map((name, at) => name || (mapping.hasHeader ? (rows[0]![at] ?? null) : null))
  const wrong = [...faults].sort(([a], [b]) => a - b)
  const table = [
    [...header, ERROR_COLUMN],
    ...wrong.map(([index, message]) => [...cellsOf(data[index]!, header), message]),
  ]
  download(new Blob([writeTable(table)], { type: 'text/tab-separated-values' }), `${dataClass.name}-errors.tsv`)
}

const cellsOf = (cells: Cells, header: Cells): Cells => header.map((_, at) => cells[at] ?? null)
