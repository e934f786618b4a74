import type { ImportRequest } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'
import { ImportErrors } from './errors.ts'

type Format = ImportRequest['format']
type Options = Omit<ImportRequest, 'dataClass' | 'bytes' | 'onRejected' | 'isTrial'> & { readonly isTrial: boolean }

const FORMATS: readonly Format[] = ['csv', 'ndjson', 'json', 'geojson', 'geojsonl']
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
  'geo+json': 'geojson',
}

/** How the rows of a request are read. @throws {ImportErrors} */
export function readOptions(request: RestRequest): Options {
  const readChoice = <T extends string>(name: `$${string}`, choices: readonly T[]): T | undefined => {
    const value = request.parameter(name)
    if (value === undefined || choices.includes(value as T)) return value as T | undefined
    throw ImportErrors.PARAMETER(name, value.slice(0, 100), `one of ${choices.join(', ')}`)
  }
  return {
    format: formatOf(request),
    existing: readChoice('$existing', EXISTING) ?? 'reject',
    isTrial: request.flag('$trial'),
    delimiter: delimiterOf(request.parameter('$delimiter')),
    path: request.parameter('$listPath'),
    skipLines: numberOf(request, '$skipLines', 'a number of lines', 0, 999_999),
    decimal: readChoice('$decimal', [',', '.']),
    dates: readChoice('$dates', ['ymd', 'dmy', 'mdy']),
    years: numberOf(request, '$years', 'the first of a hundred years', 1000, 9899),
    currencies: listOf(request.parameter('$currencies')),
    rejectedTexts: readChoice('$rejected', ['objects', 'texts']) === 'texts',
    encoding: request.parameter('$encoding'),
    nulls: listOf(request.parameter('$nulls')),
    ...columnsOf(request.parameter('$columns')),
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
  const formatName = request.parameter('$format')
  if (formatName !== undefined) {
    const match = FORMATS.find(each => each === formatName)
    if (match) return match
    throw ImportErrors.PARAMETER('$format', formatName.slice(0, 100), `one of ${FORMATS.join(', ')}`)
  }
  const [, subtype = ''] =
    /^(?:text|application)\/([\w+-]+)/.exec(request.transport.header('content-type').toLowerCase()) ?? []
  const format = OF_TYPE[subtype]
  if (!format) throw ImportErrors.NO_FORMAT(FORMATS)
  return format
}

function delimiterOf(text: string | undefined): string | undefined {
  const delimiter = text === 'tab' ? '\t' : text
  if (delimiter === undefined || (delimiter.length === 1 && !/["\r\n]/.test(delimiter))) return delimiter
  throw ImportErrors.PARAMETER('$delimiter', text!.slice(0, 100), 'one character, or the word tab')
}

const listOf = (text: string | undefined): string[] | undefined => text?.split(',').map(each => each.trim())

function numberOf(
  request: RestRequest,
  name: `$${string}`,
  what: string,
  least: number,
  most: number,
): number | undefined {
  const text = request.parameter(name)
  if (text === undefined || (/^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most))
    return text === undefined ? undefined : Number(text)
  throw ImportErrors.PARAMETER(name, text.slice(0, 100), `${what} from ${least} to ${most}`)
}

type Columns = Pick<ImportRequest, 'columns' | 'relations'>

/** `{ "Name": "name", "Notes": null, "Firm": { "attribute": "employer", "by": "Company.name" } }` */
function columnsOf(text: string | undefined): Columns {
  if (text === undefined) return {}
  const columns: Record<string, string | null> = Object.create(null)
  const relations: Record<string, string> = Object.create(null)
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) throw new TypeError()
    for (const [name, target] of Object.entries(value)) {
      if (target === null || typeof target === 'string') columns[name] = target
      else {
        const { attribute, by, ...others } = target as Record<string, unknown>
        if (typeof attribute !== 'string' || typeof by !== 'string' || Object.keys(others).length > 0)
          throw new TypeError()
        columns[name] = attribute
        relations[attribute] = by
      }
    }
  } catch {
    throw ImportErrors.PARAMETER(
      '$columns',
      text.slice(0, 100),
      'a JSON object: by column an attribute, null, or {"attribute":"employer","by":"Company.name"}',
    )
  }
  return { columns, ...(Object.keys(relations).length > 0 && { relations }) }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
