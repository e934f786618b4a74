import type { StoredBinary } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'

/** What a request says about the copy that its client has, and about the part that it wants. */
export interface Conditions {
  readonly version: string | undefined
  readonly ifNoneMatch: string
  /** Empty when all is wanted. */
  readonly range: string
  readonly ifRange: string
}

/** To be read before the first `await`, since headers are gone afterwards. */
export function conditionsOf({ transport, verb, parameters }: RestRequest): Conditions {
  return {
    version: parameters.get('$version'),
    ifNoneMatch: transport.header('if-none-match'),
    // Defined for GET only: RFC 9110, 14.2.
    range: verb === 'GET' ? transport.header('range') : '',
    ifRange: transport.header('if-range'),
  }
}

/** @param variant what distinguishes this form of the value from others; empty for the stored bytes */
export const entityTag = ({ globalStamp }: StoredBinary, variant: string): string =>
  `"${globalStamp.toString(36)}${variant && `-${variant}`}"`

/** A year for the version that the address names, else a question each time. Private: not everybody may see all data. */
export const cacheControl = ({ stamp }: StoredBinary, { version }: Conditions): string =>
  version === String(stamp) ? 'private, max-age=31536000, immutable' : 'private, no-cache'

/** True when the client has this very version. Source: RFC 9110, 13.1.2. */
export function isCurrent({ ifNoneMatch }: Conditions, tag: string): boolean {
  if (ifNoneMatch === '') return false
  return ifNoneMatch === '*' || ifNoneMatch.split(',').some(each => each.trim().replace(/^W\//, '') === tag)
}

/**
 * The part that is wanted: undefined for all, also when several parts are, or when the range cannot be read.
 * Source: RFC 9110, 14.1.2, 14.2 and 13.1.5.
 */
export function rangeOf(
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
