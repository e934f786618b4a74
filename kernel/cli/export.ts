import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Format, FORMATS, formatOf } from '../../engine/import/row-file.ts'
import { ask } from './ask-server.ts'
import { describeSize } from './describe-size.ts'

const LINE_END = ',\n'

export interface ExportArguments {
  dataClass: string
  /** Path; a name that ends in `.gz` is packed. Undefined: the standard output. */
  out?: string | undefined
  /** Address of the server, see `serverAddress`. */
  url: string
  key?: string | undefined
  format?: Format | undefined
  filter?: string | undefined
  order?: string | undefined
  attributes?: string | undefined
  /** Id of an entity set. */
  set?: string | undefined
  top?: number | undefined
}

/**
 * `tesser export`: writes entities of a running server to a file, which is there when all of it is.
 * @returns the outcome, for the operator; undefined for the standard output
 * @throws {Error} the server or the file cannot be used
 */
export async function exportEntities(given: ExportArguments, output: Writable): Promise<string | undefined> {
  const { out, key } = given
  const format = given.format ?? (out === undefined ? 'csv' : formatOf(out))
  if (!format) throw new Error(`${out} does not say its format by its name; give --format ${FORMATS.join('|')}`)
  const answer = await ask(addressOf({ ...given, format }), { key })
  const lines = Readable.fromWeb(answer.body as never)
  const body = format === 'json' ? Readable.from(asArray(lines), { objectMode: false }) : lines
  if (out === undefined) {
    await pipeline(body, output, { end: false })
    return undefined
  }
  const unfinished = `${out}.part`
  let bytes = 0
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length
  })
  try {
    const file = createWriteStream(unfinished, { mode: 0o600 })
    await (out.endsWith('.gz') ? pipeline(body, createGzip(), file) : pipeline(body, file))
    renameSync(unfinished, out)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  return `${out}: ${describeSize(bytes)} of ${format.toUpperCase()}`
}

/** A JSON array of the entities in lines of NDJSON. */
async function* asArray(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  yield Buffer.from('[')
  let separator = ''
  for await (const chunk of lines) {
    // One character for each byte.
    const text = separator + Buffer.from(chunk).toString('latin1').replaceAll('\n', LINE_END)
    separator = text.endsWith(LINE_END) ? LINE_END : ''
    yield Buffer.from(text.slice(0, text.length - separator.length), 'latin1')
  }
  yield Buffer.from(']\n')
}

function addressOf({ url, dataClass, set, format, filter, order, attributes, top }: ExportArguments): URL {
  const collection = `${encodeURIComponent(dataClass)}${set === undefined ? '' : `/$entityset/${encodeURIComponent(set)}`}`
  const address = new URL(`${url}/rest/${collection}`)
  const parameters = {
    format: format === 'json' ? 'ndjson' : format,
    top: top === undefined ? undefined : String(top),
    filter: filter && JSON.stringify(filter),
    orderby: order && JSON.stringify(order),
    attributes,
  }
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) address.searchParams.set(`$${name}`, value)
  return address
}
