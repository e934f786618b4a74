import Negotiator from 'negotiator'
import { CODINGS, type Coding, compress, compressLater, MIN_CODED_BYTES } from '../engine/index.ts'
import type { Reply } from './reply.ts'
import { isSource, isStream } from './transport/answer.ts'
import { OwnedBytes } from './transport/owned-bytes.ts'

/** Up to this size a body is compressed in the turn that made it, in some 200 µs; a larger one in a thread of libuv. */
const SYNC_BYTES = 64 * 1024
/** Distinct values of the header that are remembered. Browsers and libraries send a handful. */
const MAX_KNOWN = 100

type Headers = NonNullable<Reply['headers']>

/** The types of the package lack its second parameter: the order among codings that a client accepts equally. */
type PreferringNegotiator = Negotiator & {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[]
}

const known = new Map<string, Coding | undefined>()

/** The coding that a client prefers, by its `Accept-Encoding`. */
export function codingFor(acceptEncoding: string): Coding | undefined {
  if (acceptEncoding === '') return undefined
  if (known.has(acceptEncoding)) return known.get(acceptEncoding)
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as PreferringNegotiator
  const [first] = negotiator.encodings([...CODINGS, 'identity'], { preferred: CODINGS })
  const coding = CODINGS.find(each => each === first)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(acceptEncoding, coding)
  return coding
}

/**
 * A reply as it is sent to a client that accepts `coding`. Texts of 2 KiB and more are compressed, and say that they vary.
 * Images, files and everything whose headers have an entity tag, which is of these very bytes, stay as they are.
 */
export function compressed(reply: Reply, coding: Coding | undefined): Reply | Promise<Reply> {
  const { body } = reply
  const plain = plainOf(body)
  if (isCoded(reply)) return varying(reply)
  if (isStream(body)) return reply
  if ((isSource(body) ? body.size : body.length) < MIN_CODED_BYTES || !isText(reply)) return reply
  if (!coding || !plain) return varying(reply)
  if (plain.length <= SYNC_BYTES) return coded(reply, compress(bytesOf(plain), coding), coding)
  // Bytes that are only lent are valid in this turn only.
  const lasting = body instanceof OwnedBytes ? body.bytes : Buffer.from(plain)
  return compressLater(lasting, coding).then(bytes => coded(reply, bytes, coding))
}

/** Undefined for one that is read while it is sent. */
function plainOf(body: Reply['body']): string | Uint8Array | undefined {
  if (body instanceof OwnedBytes) return body.bytes
  return isSource(body) || isStream(body) ? undefined : body
}

const bytesOf = (plain: string | Uint8Array): Uint8Array => (typeof plain === 'string' ? Buffer.from(plain) : plain)

const isCoded = ({ headers }: Reply): boolean => headers !== undefined && 'Content-Encoding' in headers

/** A whole representation of type JSON or text that nothing has encoded or tagged. */
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

const coded = (reply: Reply, body: Uint8Array, coding: Coding): Reply =>
  varying({ ...reply, headers: { ...reply.headers, 'Content-Encoding': coding }, body })

/** Tells caches that the bytes depend on the header. */
const varying = (reply: Reply): Reply => ({ ...reply, headers: withVary(reply.headers ?? {}) })

const withVary = ofFrozen((given: Headers): Headers => {
  const headers: Record<string, string | readonly string[]> = { ...given }
  const name = Object.keys(headers).find(each => each.toLowerCase() === 'vary') ?? 'Vary'
  headers[name] = [headers[name] ?? [], 'Accept-Encoding'].flat().join(', ')
  // Their lines are made once too.
  return Object.isFrozen(given) ? Object.freeze(headers) : headers
})

/** A function of headers that remembers its results for frozen ones: those that many answers share. */
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
