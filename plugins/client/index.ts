import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ClassFunction, outputUrl } from '../../engine/index.ts'
import {
  conditionsOf,
  definePlugin,
  isCurrent,
  type Reply,
  type RestRequest,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { ClientErrors } from './errors.ts'
import { visibleModel, type ModelSource } from './visible-model.ts'
import { schemaOf, type WriteOptions, writeClient } from './write-client.ts'

/**
 * `$client`: a typed client of this server, as one file without dependencies.
 *
 *   GET /$client                  →  client.ts: the types of the model, and the runtime
 *   GET /$client/client.js        →  the same as a module for pages without a build
 *   GET /$client?$dates=text      →  dates with a time are read as ISO text in place of `Date`
 *   GET /$client?$module=true     →  the runtime is imported from `tesser/client`
 *
 * The file contains only what the caller may see. `tesser client` writes it without a running server. An extension of Tesser. [The
 * manual](README.md) describes the client.
 */
export default definePlugin({
  name: 'client',
  kernel: '^1.0.0',
  register({ service, engine, parameter, registered }) {
    parameter('$dates', {
      schema: { type: 'string', enum: ['date', 'text'] },
      doc: 'How dates with a time are read: as `Date`, or as strings.',
      example: 'text',
      on: ['client'],
    })
    parameter('$module', {
      schema: { type: 'boolean' },
      doc: 'Imports the runtime from `tesser/client`.',
      example: true,
      on: ['client'],
    })
    const { classes } = engine
    /** Recently requested files, by the rights of their callers and the request. */
    const clientFiles = new Map<string, ClientFile>()
    const fileFor = (request: RestRequest): ClientFile => {
      const { access, view } = request
      const name = request.parts.join('/') || 'client.ts'
      // Chosen with the file and not with a client, so that types and runtime cannot disagree.
      const dates = datesOf(request)
      const isModule = request.flag('$module')
      const cacheKey = `${name} ${dates} ${isModule} ${access?.version} ${access?.privileges}`
      const file = clientFiles.get(cacheKey) ?? make()
      clientFiles.delete(cacheKey)
      clientFiles.set(cacheKey, file)
      if (clientFiles.size > MAX_FILES) clientFiles.delete(clientFiles.keys().next().value!)
      return file

      function make(): ClientFile {
        const modelSource = {
          view,
          classes,
          registered,
          mayCall: (classFunction: ClassFunction) => engine.mayCall(classFunction, access),
        }
        if (name === 'client.ts')
          return fileOf(clientText(modelSource, { source: '$client', dates, isModule }), 'text/plain')
        if (name !== 'client.js') throw ClientErrors.UNKNOWN_FILE(name.slice(0, 100))
        const schema = JSON.stringify(schemaOf(visibleModel(modelSource), dates))
        // A function, so that nothing in the schema is interpreted as a replacement pattern.
        const script = readBuilt('page.js').replace('TESSER_SCHEMA', () => schema)
        return fileOf(script, 'text/javascript')
      }
    }
    service('$client', CLIENT, (request): Reply => {
      const { text, tag, mediaType } = fileFor(request)
      const headers = { ...HEADERS, 'Content-Type': `${mediaType}; charset=UTF-8`, ETag: tag }
      if (isCurrent(conditionsOf(request), tag)) return { status: 304, headers, body: '' }
      return { status: 200, headers, body: text }
    })
  },
})

const CLIENT: ServiceSpec = {
  verbs: ['GET'],
  guests: true,
  doc: 'A typed client for TypeScript.',
  tag: 'catalog',
  operations: {
    'GET /': {
      id: 'client',
      doc: 'A typed client for TypeScript, as one file',
      answers: { 200: { doc: 'The file.', types: ['text/plain'], schema: { type: 'string' } } },
    },
    'GET /client.js': {
      id: 'client.module',
      doc: 'The client as a module for pages without a build',
      answers: { 200: { doc: 'The file.', types: ['text/javascript'], schema: { type: 'string' } } },
    },
  },
}

/** Maximum number of cached files. Generating one for 120 dataclasses takes about 20 ms. */
const MAX_FILES = 8

/** Cached by a client until the model or its rights change; a shared cache must not serve one caller the file of another. */
const HEADERS = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization, Cookie' }

interface ClientFile {
  readonly text: string
  readonly tag: string
  readonly mediaType: string
}

const fileOf = (text: string, mediaType: string): ClientFile => ({
  text,
  tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
  mediaType,
})

/** The file `client.ts` for a caller who sees part of a model; also used by `tesser client`. */
export const clientText = (
  modelSource: ModelSource,
  { isModule, ...options }: Omit<WriteOptions, 'runtime'> & { readonly isModule: boolean },
): string =>
  writeClient(visibleModel(modelSource), { ...options, runtime: isModule ? undefined : readBuilt('runtime.ts') })

const files = new Map<string, string>()

/** Text of a file that the build has put beside this one. */
function readBuilt(name: string): string {
  const text = files.get(name) ?? readFileSync(outputUrl(`plugins/client/${name}`), 'utf8')
  files.set(name, text)
  return text
}

function datesOf(request: RestRequest): 'date' | 'text' {
  const dates = request.parameter('$dates') ?? 'date'
  if (dates !== 'date' && dates !== 'text') throw ClientErrors.DATES(dates.slice(0, 100))
  return dates
}
