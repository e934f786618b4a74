import type { ExpectedVersion, Promised } from '../engine/index.ts'
import type { Reply } from './reply.ts'
import type { RestRequest } from './request.ts'
import { TAGGED_JSON_HEADERS } from './transport/content-headers.ts'

/** Preconditions and range that a request's headers state. Source: RFC 9110, 13 and 14. */
export interface Conditions {
  readonly ifNoneMatch: string
  /** Value of the `Range` header; empty for the whole representation. */
  readonly range: string
  readonly ifRange: string
}

/** Reads the conditions; to be called before the first `await`, after which headers are gone. */
export const conditionsOf = ({ transport, verb }: RestRequest): Conditions => ({
  ifNoneMatch: transport.header('if-none-match'),
  // Defined for GET only: RFC 9110, 14.2.
  range: verb === 'GET' ? transport.header('range') : '',
  ifRange: transport.header('if-range'),
})

/** True if the client has this version. Source: RFC 9110, 13.1.2. */
export function isCurrent({ ifNoneMatch }: Pick<Conditions, 'ifNoneMatch'>, tag: string): boolean {
  if (ifNoneMatch === '') return false
  const strongTag = strong(tag)
  return ifNoneMatch === '*' || ifNoneMatch.split(',').some(each => strong(each.trim()) === strongTag)
}

/** A JSON answer that clients may cache and revalidate by its tag; 304 if the client has this version. */
export function tagged(body: Uint8Array, tag: string, conditions: Pick<Conditions, 'ifNoneMatch'>): Reply {
  const isKnown = isCurrent(conditions, tag)
  return { status: isKnown ? 304 : 200, headers: TAGGED_JSON_HEADERS, tag, body: isKnown ? '' : body }
}

const strong = (tag: string): string => tag.replace(/^W\//, '')

/**
 * Versions that `If-Match` accepts for a change; undefined without that header, when any version is accepted and the entity need not exist.
 * An empty list if the header is not a list of tags. Weak tags are treated as strong, since they name a version here, not bytes. Must be
 * called before the first `await`.
 */
export function expectedVersion({ transport }: RestRequest): ExpectedVersion | undefined {
  const header = transport.header('if-match').trim()
  if (header === '') return undefined
  if (header === '*') return 'any'
  // Our own tags contain no comma.
  return header.split(',').flatMap(each => {
    const [, stamp, version] = VERSION_TAG.exec(each.trim()) ?? []
    return stamp ?? version ?? []
  })
}

/** Matches a stamp in quotes, or the tag of an entity or of its images and blobs, which begins with the version. */
const VERSION_TAG = /^(?:W\/)?"(?:(0|[1-9]\d{0,14})|(\d+-\d+)(?:-[^"]*)?)"$/

/** Bytes of which a part can be sent. */
export interface Representation {
  readonly headers: Readonly<Record<string, string>>
  readonly mediaType: string
  /** Entity tag, with its quotes. */
  readonly tag: string
  readonly size: number
  /** @returns undefined when the bytes are gone */
  open(start: number, end: number): Promised<Reply['body'] | undefined>
}

/** The whole representation or the requested range; undefined when its bytes are gone. */
export function partOf(
  { headers, mediaType, tag, size, open }: Representation,
  conditions: Conditions,
): Promised<Reply | undefined> {
  const range = rangeOf(conditions, tag, size)
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` }, body: '' }
  }
  const { start, end } = range ?? { start: 0, end: size }
  const reply = (body: Reply['body'] | undefined): Reply | undefined => {
    if (body === undefined) return undefined
    const partHeaders = { ...headers, 'Content-Type': mediaType, 'Accept-Ranges': 'bytes' }
    if (!range) return { status: 200, headers: partHeaders, body }
    return { status: 206, headers: { ...partHeaders, 'Content-Range': `bytes ${start}-${end - 1}/${size}` }, body }
  }
  const body = open(start, end)
  return body instanceof Promise ? body.then(reply) : reply(body)
}

/**
 * Requested range; undefined for the whole representation, also when several ranges are requested or the range is malformed.
 * Source: RFC 9110, 14.1.2, 14.2 and 13.1.5.
 */
function rangeOf(
  { range, ifRange }: Conditions,
  tag: string,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/.exec(range) ?? []
  if (first === undefined || last === undefined || (ifRange !== '' && ifRange !== tag)) return undefined
  if (first === '') {
    if (last === '') return undefined
    return Number(last) === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size }
  }
  const [start, end] = [Number(first), last === '' ? size : Math.min(Number(last) + 1, size)]
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end }
}
