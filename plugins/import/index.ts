import { definePlugin, json, type Reply, type RestRequest, type ServiceSpec } from '../../kernel/api.ts'
import { receiveRows } from './body-stream.ts'
import { ImportErrors } from './errors.ts'
import { OPERATIONS, PARAMETERS } from './operations.ts'
import { idOf, previewOf, readOptions } from './options.ts'

/**
 * Rows of a file become entities while the server runs, as `tesser load` does without it: CSV with a header, NDJSON, JSON or GeoJSON. For
 * administrators, like `$info`.
 *
 *   POST /$import/City?$format=csv       name,population ⏎ Lyon,516092 ⏎ …
 *     →  { "import": "1", "dataClass": "City", "trial": false, "read": 2, "inserted": 1, "updated": 0, "skipped": 0, "rejected": 1,
 *          "later": 0, "isComplete": true, "ms": 12, "rejectedRows": [{ "line": 3, "errors": ["…"], "row": { … } }] }
 *   GET  /$import                        →  { "imports": [{ "import", "dataClass", "trial", "since", "read", … }] }, the running ones
 *   DELETE /$import/1                    →  { "ok": true }; the import ends after the rows that are being saved
 *
 * | parameter | meaning |
 * | --- | --- |
 * | `$format` | `csv`, `ndjson`, `json`, `geojson`, or `geojsonl` with a feature on each line; by default, as the `Content-Type` says |
 * | `$existing` | a row whose key exists is an error (`reject`), changes that entity (`update`), or is left out (`skip`) |
 * | `$trial` | checks all rows and saves none; `later` counts rows that refer to entities that do not exist yet |
 * | `$columns` | JSON object: attributes by the names of columns, null for a column that is left out; `{"Firm":{"attribute":"employer","by":"Company.name"}}` finds the related entity by its name |
 * | `$delimiter` `$decimal` `$dates` `$years` `$currencies` `$encoding` `$nulls` | as the options of `tesser load`, but only the delimiter is guessed |
 * | `$skipLines` | number of lines above the header; by default blank lines, comments with `#` and titles are recognized |
 * | `$listPath` | path to the list of rows in a JSON document: `data.items`, or a JSON pointer |
 * | `$rejected` | `texts`: rejected rows are in the answer as they are in the body, not as objects |
 * | `$preview` | number of rows, at most 100, that are read and checked, but not saved: the answer has them by column, with their errors |
 * | `$id` | name of the import in the list and for its end; a number by default |
 *
 *   POST /$import/City?$format=csv&$preview=20   the beginning of a file is enough
 *     →  { "dataClass": "City", "delimiter": ";", "columns": [{ "name": "Einwohner", "attribute": null }, …],
 *          "rows": [{ "line": 2, "cells": ["516092", …], "errors": [] }, …] }
 *
 * The body is read as it arrives, whatever its size. A problem with a row concerns that row alone; the first 10,000 of them are in the
 * answer, and can be sent again after corrections, as NDJSON. If the client disconnects, rows that were saved remain.
 */
export default definePlugin({
  name: 'import',
  kernel: '^1.0.0',
  register({ service, parameter, engine, now, log }) {
    const runningImports = new Map<string, Running>()
    let count = 0
    for (const [name, spec] of Object.entries(PARAMETERS)) parameter(name as '$id', { ...spec, on: ['import'] })

    const run = async (request: RestRequest, dataClass: string): Promise<Reply> => {
      const options = readOptions(request)
      const { isTrial } = options
      const id = idOf(request) ?? String(++count)
      if (runningImports.has(id)) throw ImportErrors.PARAMETER('$id', id, 'a name that no running import has')
      const stop = new AbortController()
      const { bytes, end } = receiveRows(request, stop.signal)
      const summary = { read: 0, inserted: 0, updated: 0, skipped: 0, rejected: 0, later: 0 }
      const since = now()
      runningImports.set(id, { dataClass, isTrial, since, summary, stop })
      const rejectedRows = new RejectedRows()
      try {
        await engine.importRows({
          ...options,
          bytes,
          dataClass,
          signal: stop.signal,
          summary,
          onRejected: (line, row) => rejectedRows.add(line, row),
        })
      } catch (error) {
        throw unreadable(error, summary.inserted + summary.updated)
      } finally {
        runningImports.delete(id)
        end()
        log.info({ import: id, dataClass, trial: isTrial, ...summary, ms: now() - since }, 'import ended')
      }
      const isComplete = !stop.signal.aborted
      const head = { import: id, dataClass, trial: isTrial, ...summary, isComplete, ms: now() - since }
      return encodedAnswer(head, rejectedRows)
    }

    const preview = async (request: RestRequest, dataClass: string, rows: number): Promise<Reply> => {
      const { isTrial: _, ...options } = readOptions(request)
      const { bytes, end } = receiveRows(request, new AbortController().signal)
      try {
        return json({ dataClass, ...(await engine.previewRows({ ...options, bytes, dataClass, rows })) })
      } catch (error) {
        throw unreadable(error, 0)
      } finally {
        end()
      }
    }

    service('$import', IMPORT, request => {
      const { method } = request.transport
      const [part, ...others] = request.parts
      if (others.length > 0 || (part === undefined) !== (method === 'GET')) throw ImportErrors.ADDRESS()
      if (method === 'POST') {
        const rows = previewOf(request)
        return rows === undefined ? run(request, part!) : preview(request, part!, rows)
      }
      if (method === 'GET') return json({ imports: [...runningImports].map(describe) })
      const runningImport = runningImports.get(part!)
      if (!runningImport) throw ImportErrors.NOT_RUNNING(part!.slice(0, 100))
      runningImport.stop.abort()
      return json({ ok: true })
    })
  },
})

const IMPORT: ServiceSpec = {
  verbs: ['GET', 'POST', 'DELETE'],
  administrators: true,
  doc: 'Saves the rows of files as entities.',
  tag: 'server',
  operations: OPERATIONS,
}

/** Errors of other classes have their own status, or are server errors. */
const unreadable = (error: unknown, savedCount: number): unknown =>
  error instanceof Error && (error.constructor === Error || error.name === 'InputError')
    ? ImportErrors.UNREADABLE(error.message, savedCount)
    : error

/** An import that is running. */
interface Running {
  readonly dataClass: string
  readonly isTrial: boolean
  readonly since: number
  readonly summary: object
  readonly stop: AbortController
}

const describe = ([id, { dataClass, isTrial, since, summary }]: [string, Running]): object => ({
  import: id,
  dataClass,
  trial: isTrial,
  since: new Date(since).toISOString(),
  ...summary,
})

const MAX_REJECTED = 10_000
const MAX_REJECTED_CHARACTERS = 16 * 2 ** 20

/** The first rows that could not be saved, as JSON. */
class RejectedRows {
  private readonly rows: { readonly line: number; readonly row: string }[] = []
  private characters = 0

  add(line: number, row: string): void {
    if (this.rows.length >= MAX_REJECTED || this.characters + row.length > MAX_REJECTED_CHARACTERS) return
    this.characters += row.length
    this.rows.push({ line, row })
  }

  /** Rejected rows in the order of the file. */
  get sortedRows(): string[] {
    return this.rows.sort((one, other) => one.line - other.line).map(({ row }) => row)
  }
}

/** Encodes the answer. The rows are JSON already, with the digits of long integers, each on a line. */
function encodedAnswer(head: object, rejectedRows: RejectedRows): Reply {
  const text = `${JSON.stringify(head).slice(0, -1)},"rejectedRows":[${rejectedRows.sortedRows.map(row => `\n${row}`).join(',')}]}`
  return { ...json({}), body: Buffer.from(text) }
}
