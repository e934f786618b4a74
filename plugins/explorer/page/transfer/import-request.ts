/** Requests to `$import`. */
import type { DataClass } from '../base/catalog.ts'
import { addressOf, ask, type Parameters, type ProtocolFault, RestError } from '../base/rest.ts'
import type { FileFormat } from './file-format.ts'
import { columnsParameter, type Mapping, proposeMapping, withoutTwice } from './mapping.ts'
import { text } from './texts.ts'

/** How a file is read, as parameters of `$import`; empty for options that the server detects or for which its default is used. */
export interface ImportOptions {
  readonly format: FileFormat
  readonly existing: 'reject' | 'update' | 'skip'
  readonly delimiter: string
  readonly decimal: string
  readonly dates: string
  readonly encoding: string
}

interface PreviewedRow {
  readonly line: number
  readonly cells: readonly (string | null)[]
  readonly errors: readonly string[]
}

export interface Preview {
  readonly delimiter?: string
  readonly columns: readonly { readonly name: string; readonly attribute: string | null }[]
  readonly rows: readonly PreviewedRow[]
}

export interface Outcome {
  readonly trial: boolean
  readonly read: number
  readonly inserted: number
  readonly updated: number
  readonly skipped: number
  readonly rejected: number
  readonly later: number
  readonly isComplete: boolean
  /** The first rows that could not be saved, each as a line of NDJSON with its number and the reasons. */
  readonly rejectedLines: readonly string[]
}

const PREVIEWED_ROWS = 20
/** Number of bytes for the preview; even, so that no character of UTF-16 is cut. */
const PREVIEWED_BYTES = 256 * 1024
const POLL_MS = 1_000

const parametersOf = (options: ImportOptions, mapping: Mapping): Parameters => ({
  ...Object.fromEntries(Object.entries(options).map(([name, value]) => [`$${name}`, value])),
  $columns: columnsParameter(mapping),
})

/**
 * The first rows of a file as the server reads them.
 * @param chosenMapping undefined: columns are mapped by their names
 * @throws {RestError} the file cannot be read
 */
export async function previewFile(
  dataClass: DataClass,
  file: Blob,
  options: ImportOptions,
  chosenMapping: Mapping | undefined,
  signal: AbortSignal,
): Promise<{ readonly preview: Preview; readonly mapping: Mapping }> {
  const body = file.slice(0, PREVIEWED_BYTES)
  const look = async (mapping: Mapping): Promise<Preview> => {
    const parameters = { ...parametersOf(options, mapping), $preview: PREVIEWED_ROWS }
    const preview = await ask<Preview>(`$import/${dataClass.name}`, parameters, { body, signal })
    // The part may end in the middle of the last row.
    const isCut = body.size < file.size && preview.rows.length < PREVIEWED_ROWS
    return isCut ? { ...preview, rows: preview.rows.slice(0, -1) } : preview
  }
  if (chosenMapping) return { preview: await look(withoutTwice(chosenMapping)), mapping: chosenMapping }
  const preview = await look({})
  const mapping = proposeMapping(preview.columns, dataClass)
  const isRead = preview.columns.every(({ name, attribute }) => mapping[name] === attribute)
  return { preview: options.format !== 'csv' || isRead ? preview : await look(mapping), mapping }
}

interface Sending {
  readonly dataClass: string
  readonly file: Blob
  readonly options: ImportOptions
  readonly mapping: Mapping
  readonly isTrial: boolean
  /** Ends the import after the rows that are being saved. */
  readonly signal: AbortSignal
  /** Called with the part of the file that the server has taken, from 0 to 1. */
  readonly report: (progress: number) => void
  /** Called now and then with the number of rows that have been read. */
  readonly onRead: (rows: number) => void
}

/**
 * Sends a file, which the browser reads while sending it.
 * @throws {RestError} the file as a whole cannot be read
 */
export async function sendFile(sending: Sending): Promise<Outcome> {
  const { dataClass, options, mapping, isTrial, signal, onRead } = sending
  const id = `explorer-${[...crypto.getRandomValues(new Uint32Array(2))].map(word => word.toString(36)).join('')}`
  const parameters = { ...parametersOf(options, mapping), $trial: isTrial || undefined, $id: id }
  const timer = setInterval(() => {
    ask<{ readonly imports: readonly { readonly import: string; readonly read: number }[] }>('$import').then(
      ({ imports }) => {
        const entry = imports.find(each => each.import === id)
        if (entry) onRead(entry.read)
      },
      () => {},
    )
  }, POLL_MS)
  const request = new XMLHttpRequest()
  // The server ends the import and reports the result.
  const end = (): void => void ask(`$import/${id}`, {}, { method: 'DELETE' }).catch(() => request.abort())
  signal.addEventListener('abort', end, { once: true })
  try {
    return outcomeOf(await answerTo(request, addressOf(`$import/${dataClass}`, parameters), sending))
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', end)
  }
}

/** Sends the file by `XMLHttpRequest`, which reports progress. */
function answerTo(request: XMLHttpRequest, address: string, { file, signal, report }: Sending): Promise<string> {
  return new Promise((resolve, reject) => {
    request.open('POST', address)
    request.upload.onprogress = ({ loaded, total }) => report(total > 0 ? loaded / total : 1)
    request.onload = () => {
      if (request.status === 200) resolve(request.responseText)
      else reject(refusal(request))
    }
    request.onerror = () => reject(signal.aborted ? aborted() : new Error(text('interrupted')))
    request.onabort = () => reject(aborted())
    request.send(file)
  })
}

const aborted = (): DOMException => new DOMException('the import was given up', 'AbortError')

function refusal({ status, responseText }: XMLHttpRequest): RestError {
  const answer = parseJson(responseText) as { readonly __ERROR?: readonly ProtocolFault[] } | undefined
  return new RestError(status, answer?.__ERROR ?? [], answer)
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Outcome of an import. Its lines are copied from the answer itself, with the digits of long integers. */
function outcomeOf(answer: string): Outcome {
  const [, ...lines] = answer.slice(0, answer.lastIndexOf(']')).split('\n')
  return { ...JSON.parse(answer), rejectedLines: lines.map(line => line.replace(/,$/, '')) }
}
