import Negotiator from 'negotiator'

/**
 * Returns the media type that a client prefers, by its `Accept` header with weights; undefined if it accepts none of `available`. Of types
 * that it accepts equally the first one that the header names; without a header, or if it names none, the first of `available`.
 */
export const preferredType = <Type extends string>(accept: string, available: readonly Type[]): Type | undefined =>
  new Negotiator({ headers: { accept: accept.replace(PARAMETER, '') || '*/*' } }).mediaTypes([...available])[0] as
    | Type
    | undefined

/** A parameter other than the weight. Each type has one form here, and `application/json; charset=utf-8` means it too. */
const PARAMETER = /;\s*(?!q\s*=)[\w!#$%&'*+.^`|~-]+\s*=\s*(?:"(?:\\.|[^"\\])*"|[^;,\s"]*)/gi

const PAGE = 'text/html'

/** True if a person reads the answer in a browser: programs accept everything, or prefer JSON. @param accept the `Accept` header */
export const prefersPage = (accept: string): boolean =>
  accept.includes(PAGE) && preferredType(accept, ['application/json', PAGE]) === PAGE
