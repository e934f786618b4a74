import Negotiator from 'negotiator'
import { type Coding, CODINGS, compress, compressLater, MIN_CODED_BYTES } from '../engine/index.ts'
import type { Reply } from './reply.ts'
import { isSource, isStream } from './transport/answer.ts'
import { OwnedBytes } from './transport/owned-bytes.ts'

/** Maximum size of a body that is compressed immediately, in about 200 µs; a larger one is compressed in a thread of libuv. */
const SYNC_BYTES = 64 * 1024
/** Maximum number of remembered values of the header. Browsers and libraries send a handful. */
const MAX_KNOWN = 100

type Headers = NonNullable<Reply['headers']>

/** Declares the second parameter, which the types of the package lack: the order among codings that a client accepts equally. */
type PreferringNegotiator = Negotiator & {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[]
}

const knownCodings = new Map<string, Coding | undefined>()

/**
 * Preferred coding of a client, by its `Accept-Encoding`; undefined for none. Clients on the same machine get compressed answers, too,
 * because proxies are among them.
 */
export function codingFor(acceptEncoding: string): Coding | undefined {
  if (acceptEncoding === '') return undefined
  if (knownCodings.has(acceptEncoding)) return knownCodings.get(acceptEncoding)
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as PreferringNegotiator
  const [first] = negotiator.encodings([...CODINGS, 'identity'], { preferred: CODINGS })
  const coding = CODINGS.find(each => each === first)
  if (knownCodings.size >= MAX_KNOWN) knownCodings.clear()
  knownCodings.set(acceptEncoding, coding)
  return coding
}

/**
 * A reply in the form for a client that accepts `coding`. Texts of 2 KiB and more are compressed, with a `Vary` header.
 * Images, files and all replies with an entity tag in their headers, which identifies these exact bytes, stay unchanged.
 */
export function compressReply(reply: Reply, coding: Coding | undefined): Reply | Promise<Reply> {
  const { body } = reply
  const plainBody = plainOf(body)
  if (isCoded(reply)) return varying(reply)
  // Each piece would have to be flushed separately.
  if (isStream(body)) return reply
  if ((isSource(body) ? body.size : body.length) < MIN_CODED_BYTES || !isText(reply)) return reply
  if (!coding || !plainBody) return varying(reply)
  if (plainBody.length <= SYNC_BYTES) return withCoding(reply, compress(bytesOf(plainBody), coding), coding)
  // The engine's bytes are valid only in this turn.
  const lasting = body instanceof OwnedBytes ? body.bytes : Buffer.from(plainBody)
  return compressLater(lasting, coding).then(bytes => withCoding(reply, bytes, coding))
}

/** Plain bytes or text of a body; undefined for a body that is read while it is sent. */
function plainOf(body: Reply['body']): string | Uint8Array | undefined {
  if (body instanceof OwnedBytes) return body.bytes
  return isSource(body) || isStream(body) ? undefined : body
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content

const isCoded = ({ headers }: Reply): boolean => headers !== undefined && 'Content-Encoding' in headers

/** True for a complete representation of JSON or text without a coding or a tag. */
const isText = ({ status, headers }: Reply): boolean => status !== 206 && headers !== undefined && areOfText(headers)

const areOfText = ofFrozen((headers: Headers): boolean => {
  let type = ''
  for (const name in headers) {
    const value = String(headers[name])
    switch (name.toLowerCase()) {
      case 'content-type':
        type = value
        break
      case 'content-encoding':
      case 'content-range':
      case 'etag':
        return false
      case 'cache-control':
        if (/\bno-transform\b/i.test(value)) return false
    }
  }
  return /^(?:application\/(?:json|x-ndjson)|text\/)/i.test(type)
})

const withCoding = (reply: Reply, body: Uint8Array, coding: Coding): Reply =>
  varying({ ...reply, headers: { ...reply.headers, 'Content-Encoding': coding }, body })

/** Adds `Vary`, so that caches know that the bytes depend on `Accept-Encoding`. */
const varying = (reply: Reply): Reply => ({ ...reply, headers: withVary(reply.headers ?? {}) })

const withVary = ofFrozen((baseHeaders: Headers): Headers => {
  const headers: Record<string, string | readonly string[]> = { ...baseHeaders }
  const name = Object.keys(headers).find(each => each.toLowerCase() === 'vary') ?? 'Vary'
  headers[name] = [headers[name] ?? [], 'Accept-Encoding'].flat().join(', ')
  // Frozen, so that their header lines are also built only once.
  return Object.isFrozen(baseHeaders) ? Object.freeze(headers) : headers
})

/** Wraps a function of headers so that it remembers its results for frozen headers, which many answers share. */
function ofFrozen<T>(work: (headers: Headers) => T): (headers: Headers) => T {
  const results = new WeakMap<Headers, T>()
  return headers => {
    let result = results.get(headers)
    if (result === undefined) {
      result = work(headers)
      if (Object.isFrozen(headers)) results.set(headers, result)
    }
    return result
  }
}
