import { createHash } from 'node:crypto'
import { type Coding, compressLater } from '../../engine/index.ts'
import {
  conditionsOf,
  definePlugin,
  isCurrent,
  KERNEL_VERSION,
  type Reply,
  type RestRequest,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { openApiDocument } from './document.ts'

export { openApiDocument } from './document.ts'

/**
 * `$openapi`: the OpenAPI 3.1 document of the data model, as far as the caller may see it: addresses, parameters, schemas, errors with
 * their codes, and class functions with their declared parameters.
 *
 *   GET /rest/$openapi   →  { "openapi": "3.1.0", "paths": { "/City": …, "/City({key})": … }, "components": … }
 *
 * It has an `ETag`, which changes with the model, the functions and the rights of the caller. `tesser openapi` writes the document for a
 * caller without restrictions, from the model and the classes of plugins only.
 */
export default definePlugin({
  name: 'openapi',
  kernel: '^1.0.0',
  register({ service, engine, sessions, registered }) {
    const { catalog, classes } = engine
    /** Documents by rights, the most recently used at the end; a document can have a megabyte. */
    const documents = new Map<string, Document>()
    const documentFor = ({ view, access, isAdministrator }: RestRequest): Document => {
      const rights = `${isAdministrator} ${access?.version} ${access?.privileges}`
      const entry = documents.get(rights) ?? make()
      documents.delete(rights)
      documents.set(rights, entry)
      if (documents.size > MAX_DOCUMENTS) documents.delete(documents.keys().next().value!)
      return entry

      function make(): Document {
        const text = JSON.stringify(
          openApiDocument({
            ...{ catalog, classes, view, isAdministrator, registered },
            mayCall: classFunction => engine.mayCall(classFunction, access),
            version: KERNEL_VERSION,
            cookieName: sessions.options.cookieName,
          }),
        )
        const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22)
        return { bytes: Buffer.from(text), tag, coded: new Map() }
      }
    }

    service('$openapi', OPENAPI, (request): Reply | Promise<Reply> => {
      const document = documentFor(request)
      const { coding } = request.transport
      // The tag is strong: it identifies these exact bytes, with their compression.
      const tag = `"${document.tag}${coding ? `-${coding}` : ''}"`
      const headers = { ...HEADERS, ETag: tag }
      if (isCurrent(conditionsOf(request), tag)) return { status: 304, headers, body: '' }
      const replyHeaders = { ...headers, 'Content-Type': 'application/json; charset=UTF-8' }
      if (!coding) return { status: 200, headers: replyHeaders, body: document.bytes }
      return codedOf(document, coding).then(body => ({
        status: 200,
        headers: { ...replyHeaders, 'Content-Encoding': coding },
        body,
      }))
    })
  },
})

const OPENAPI: ServiceSpec = {
  verbs: ['GET'],
  guests: true,
  doc: 'The OpenAPI document.',
  tag: 'catalog',
  operations: {
    'GET /': {
      id: 'openapi',
      doc: 'This document: the addresses, parameters, schemas, errors and functions that you may see',
    },
  },
}

const MAX_DOCUMENTS = 8

/** A shared cache must not serve one caller the document of another. */
const HEADERS = { 'Cache-Control': 'private, no-cache', Vary: 'Accept-Encoding, Cookie, Authorization' }

interface Document {
  readonly bytes: Uint8Array
  readonly tag: string
  /** Compressed forms of the document, created on first request. */
  readonly coded: Map<Coding, Promise<Uint8Array>>
}

function codedOf({ bytes, coded }: Document, coding: Coding): Promise<Uint8Array> {
  let body = coded.get(coding)
  if (!body) {
    body = compressLater(bytes, coding)
    coded.set(coding, body)
  }
  return body
}
