import {
  definePlugin,
  encoded,
  preferredType,
  type ReadRequest,
  type Reply,
  type RestRequest,
  type CommandSpec,
} from '../../kernel/api.ts'
import { columnsOf } from './csv-columns.ts'
import { schemaOf } from './looker-schema.ts'
import { FormatErrors } from './errors.ts'

/**
 * `$format=csv` and `$format=ndjson`: a selection as lines, for spreadsheets and programs; the whole selection unless `$top` is given.
 * `Accept: text/csv` and `Accept: application/x-ndjson` mean the same.
 *
 *   GET /Employee?$filter="woman"&$attributes=lastName,employer.name&$format=csv
 *     →  lastName,employer.name
 *        Lovelace,"Analytical Engines, Ltd"
 *   GET /Employee?$format=ndjson
 *     →  {"__KEY":"1","__STAMP":1,"ID":1,"lastName":"Lovelace",…}
 *
 * CSV has a header with the names, lines that end with CR LF, null as an empty field, an empty text as `""`, objects as JSON, and several
 * related entities as an array of their values. Without an attribute list its columns are the attributes of the dataclass except relations,
 * images and blobs. Texts that a spreadsheet would treat as a formula are not escaped. Lines of NDJSON are entities as `$asArray` shows
 * them. Source: RFC 4180. `tesser export` makes Excel, Parquet and SQLite files of the CSV.
 *
 * `$format=looker`: a selection as a table, for connectors of Looker Studio. `$format=json` is the default answer.
 *
 *   GET /Employee/ID,lastName?$filter="woman"&$top=50&$format=looker
 *     →  { "__COUNT": 3, "__FIRST": 0,
 *          "schema": [{ "name": "ID", "dataType": "NUMBER", "semantics": {…} }, …],
 *          "rows": [{ "values": [1, "Lovelace"] }, …],
 *          "filtersApplied": true }
 *
 * The columns are the scalar attributes of the list, or of the dataclass; others are left out. Source: protocol notes, 6.8.
 */
export default definePlugin({
  name: 'format',
  kernel: '^1.0.0',
  register({ command, engine, onRequest }) {
    const table = ({ read, view, transport }: RestRequest) => {
      const { attributes } = read.output
      const schema = schemaOf(view.dataClass(read.dataClass), attributes?.items, view)
      // All names in a given list are looked up, so that a wrong name is still an error.
      const items = attributes?.items ?? schema.map(({ name }) => ({ path: [name], range: undefined }))
      const filtersApplied = read.filter !== undefined
      const output = {
        form: 'table',
        attributes: { from: 'path', items },
        table: { schema, filtersApplied },
        coding: read.output.coding,
      } as const
      return encoded(engine.read({ ...read, output }, transport))
    }
    const lines = (
      { read, transport, parameters }: RestRequest,
      rowFormat: RowFormat,
      headers: Record<string, string>,
    ) => {
      const top = parameters.has('$top') || parameters.has('$limit') ? read.top : Number.POSITIVE_INFINITY
      const { pretty: _, ...output } = read.output
      return encoded(
        engine.read({ ...read, top, output: { ...output, form: 'array', rowFormat } }, transport),
        200,
        headers,
      )
    }
    const csv = (request: RestRequest) => {
      const { read, view } = request
      const dataClass = view.dataClass(read.dataClass)
      const columns = columnsOf(dataClass, read.output.attributes?.items, view)
      // If a parameter gives the list, it may show attributes of related entities.
      const items = read.output.attributes?.items ?? columns.map(path => ({ path: [...path], range: undefined }))
      read.output.attributes = { from: 'parameter', items }
      return lines(
        request,
        { kind: 'csv', columns },
        {
          'Content-Type': 'text/csv; charset=UTF-8; header=present',
          'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(dataClass.name)}.csv`,
        },
      )
    }
    const formats: Readonly<Record<string, (request: RestRequest) => Reply | Promise<Reply> | undefined>> = {
      json: () => undefined,
      csv,
      ndjson: request => lines(request, { kind: 'lines' }, { 'Content-Type': 'application/x-ndjson; charset=UTF-8' }),
      looker: table,
    }
    command('$format', FORMAT, request => {
      const format = request.parameter('$format')!.toLowerCase()
      if (!Object.hasOwn(formats, format)) throw FormatErrors.UNKNOWN_FORMAT(format.slice(0, 100), Object.keys(formats))
      return formats[format]!(request)
    })
    onRequest(request => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
      const format = formatIn(request.header('accept'))
      // The last value of a parameter counts, so that one in the address has precedence.
      if (format !== 'json' && request.path.startsWith('/rest/'))
        request.query = [`$format=${format}`, request.query].join('&')
      return undefined
    })
  },
})

const FORMAT: CommandSpec = {
  verbs: ['GET'],
  schema: { type: 'string', enum: ['json', 'csv', 'ndjson', 'looker'] },
  doc: 'Form of the answer. `csv` and `ndjson` return lines, for all entities unless `$top` is given; `Accept: text/csv` and `Accept: application/x-ndjson` mean the same. `looker` returns a table.',
  example: 'looker',
  on: ['listValues', 'openSet'],
  section: 'protocol',
}

type RowFormat = NonNullable<ReadRequest['output']['rowFormat']>

const FORMATS = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
} as const
const TYPES = Object.keys(FORMATS) as (keyof typeof FORMATS)[]

/** Format that a client prefers, by its `Accept` header. An answer in JSON is for everybody. */
const formatIn = (accept: string): (typeof FORMATS)[keyof typeof FORMATS] =>
  /csv|ndjson/i.test(accept) ? FORMATS[preferredType(accept, TYPES) ?? 'application/json'] : 'json'
