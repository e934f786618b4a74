import type { ImportRequest } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'
import { ImportErrors } from './errors.ts'

type Format = ImportRequest['format']
type Options = Omit<ImportRequest, 'dataClass' | 'bytes' | 'onRejected' | 'isTrial'> & { readonly isTrial: boolean }

const FORMATS: readonly Format[] = ['csv', 'ndjson', 'json']
const EXISTING: readonly ImportRequest['existing'][] = ['reject', 'update', 'skip']
const MAX_PREVIEW = 100
/** Formats by the subtype of the content type. */
const OF_TYPE: Readonly<Record<string, Format>> = {
  csv: 'csv',
  'tab-separated-values': 'csv',
  json: 'json',
  ndjson: 'ndjson',
  'x-ndjson': 'ndjson',
  jsonl: 'ndjson',
}

/** How the rows of a request are read. @throws {ImportErrors} */
export function readOptions(request: RestRequest): Options {
  const given = <T extends string>(name: `$${string}`, known: readonly T[]): T | undefined => {
    const value = request.parameter(name)
    if (value === undefined || known.includes(value as T)) return value as T | undefined
    throw ImportErrors.PARAMETER(name, value.slice(0, 100), `one of ${known.join(', ')}`)
  }
  return {
    format: formatOf(request),
    existing: given('$existing', EXISTING) ?? 'reject',
    isTrial: request.flag('$trial'),
    delimiter: delimiterOf(request.parameter('$delimiter')),
    decimal: given('$decimal', [',', '.']),
    dates: given('$dates', ['ymd', 'dmy', 'mdy']),
    encoding: request.parameter('$encoding'),
    columns: columnsOf(request.parameter('$columns')),
  }
}

/** The name that a client gives to its import. @throws {ImportErrors} */
export function idOf(request: RestRequest): string | undefined {
  const id = request.parameter('$id')
  if (id === undefined || /^[\w-]{1,64}$/.test(id)) return id
  throw ImportErrors.PARAMETER('$id', id.slice(0, 100), 'at most 64 letters, digits, _ and -')
}

/** Number of rows of a preview; undefined for an import. @throws {ImportErrors} */
export function previewOf(request: RestRequest): number | undefined {
  const rows = request.parameter('$preview')
  if (rows === undefined) return undefined
  if (/^[1-9]\d{0,2}$/.test(rows) && Number(rows) <= MAX_PREVIEW) return Number(rows)
  throw ImportErrors.PARAMETER('$preview', rows.slice(0, 100), `a number of rows from 1 to ${MAX_PREVIEW}`)
}

function formatOf(request: RestRequest): Format {
  const given = request.parameter('$format')
  if (given !== undefined) {
    const found = FORMATS.find(known => known === given)
    if (found) return found
    throw ImportErrors.PARAMETER('$format', given.slice(0, 100), `one of ${FORMATS.join(', ')}`)
  }
  const [, subtype = ''] =
    /^(?:text|application)\/([\w-]+)/.exec(request.transport.header('content-type').toLowerCase()) ?? []
  const format = OF_TYPE[subtype]
  if (!format) throw ImportErrors.NO_FORMAT(FORMATS)
  return format
}

function delimiterOf(text: string | undefined): string | undefined {
  const delimiter = text === 'tab' ? '\t' : text
  if (delimiter === undefined || (delimiter.length === 1 && !/["\r\n]/.test(delimiter))) return delimiter
  throw ImportErrors.PARAMETER('$delimiter', text!.slice(0, 100), 'one character, or the word tab')
}

function columnsOf(text: string | undefined): Record<string, string | null> | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const entries = Object.entries(value)
      if (entries.every(([, name]) => name === null || typeof name === 'string')) return Object.fromEntries(entries)
    }
  } catch {
    // Refused below.
  }
  throw ImportErrors.PARAMETER(
    '$columns',
    text.slice(0, 100),
    'a JSON object with the names of attributes, or null, by column',
  )
}
