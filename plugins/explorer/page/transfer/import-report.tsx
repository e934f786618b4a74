import type { DataClass } from '../base/catalog.ts'
import { download } from '../base/download.ts'
import { linkTo } from '../base/place.ts'
import type { Outcome } from './import-request.ts'
import { text } from './texts.ts'

/** Maximum number of shown rows. */
const SHOWN = 50

export interface Finished {
  readonly outcome: Outcome
  /** Stamp of the last change before an import. */
  readonly before: number | undefined
}

interface ReportProps extends Finished {
  readonly dataClass: DataClass
  readonly file: File
  readonly onClose: () => void
}

/** The counts of a trial or an import, the first rows that were rejected with the reasons, and all of them as a file. */
export function ImportReport({ dataClass, file, outcome, before, onClose }: ReportProps) {
  const { trial, inserted, updated, rejected, rejectedLines } = outcome
  const savedCount = trial ? 0 : inserted + updated
  return (
    <>
      <p role="status">{summaryOf(outcome)}</p>
      {rejectedLines.length > 0 && <RejectedRows lines={rejectedLines.slice(0, SHOWN)} />}
      {rejected > SHOWN && (
        <small>{text('shown', { shown: Math.min(SHOWN, rejectedLines.length), count: rejected })}</small>
      )}
      <div class="row">
        {rejectedLines.length > 0 && (
          <button type="button" onClick={() => downloadRejected(file, outcome)}>
            {text('download', { count: rejectedLines.length })}
          </button>
        )}
        {savedCount > 0 && before !== undefined && (
          <a href={linkTo([dataClass.name], { filter: `__GlobalStamp > ${before}` })} onClick={onClose}>
            {text('showSaved')}
          </a>
        )}
      </div>
    </>
  )
}

interface Rejected {
  readonly line: number
  readonly errors: readonly string[]
  readonly row: unknown
}

function RejectedRows({ lines }: { readonly lines: readonly string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region has to be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={text('rejectedRows')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{text('line')}</th>
            <th scope="col">{text('problem')}</th>
            <th scope="col">{text('row')}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((json, at) => {
            const { line, errors, row } = JSON.parse(json) as Rejected
            return (
              <tr key={at} class="wrong">
                <th scope="row">{line}</th>
                <td class="problem">{errors.join('; ')}</td>
                <td>{JSON.stringify(row)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

/** Counts of a trial or an import, as a sentence. */
export function summaryOf({ trial, isComplete, read, inserted, updated, skipped, rejected, later }: Outcome): string {
  const countPart = (key: Parameters<typeof text>[0], count: number): string[] =>
    count > 0 ? [text(key, { count })] : []
  const parts = [
    text(trial ? 'wouldInsert' : 'inserted', { count: inserted }),
    ...countPart(trial ? 'wouldUpdate' : 'updated', updated),
    ...countPart('skipped', skipped),
    ...countPart('rejected', rejected),
    ...countPart('later', later),
  ]
  return `${text('read', { count: read })}: ${parts.join(', ')}.${isComplete ? '' : ` ${text('incomplete')}`}`
}

/** Saves the rejected rows as `tesser import` does: a file that can be corrected and imported again. */
export const downloadRejected = ({ name }: File, { rejectedLines }: Outcome): void =>
  download(
    new Blob(
      rejectedLines.map(line => `${line}\n`),
      { type: 'application/x-ndjson' },
    ),
    `${name}.errors.ndjson`,
  )
