import { ProtocolError } from '../../base/errors.ts'
import { TEXT_LIMITS, type TextLimits } from './limits.ts'
import { ParseErrors } from './parse-errors.ts'
import { placeOf } from './syntax-failure.ts'

/** An element of an attribute list, of `$attributes` or of `$expand`. */
export interface PathListItem {
  /** `['employer', 'name']`. The last name may be a wildcard: `*` for every attribute, `$all` for every relation. */
  path: string[]
  /** `staff:10-20` means 10 entities after the first 20. Any other text after a colon is ignored. */
  range: { count: number; skip: number } | undefined
}

/** {@link parsePathList} for attributes of `dataClass`. @throws [1201, 1804] */
export const parseAttributeList = (text: string, dataClass: string, limits?: TextLimits): PathListItem[] =>
  parseFor(ParseErrors.ATTRIBUTE_LIST, text, dataClass, limits)

/** {@link parsePathList} for attributes of `dataClass` to expand. @throws [1201, 1805] */
export const parseExpandList = (text: string, dataClass: string, limits?: TextLimits): PathListItem[] =>
  parseFor(ParseErrors.EXPAND_LIST, text, dataClass, limits)

function parseFor(
  consequence: (text: string, dataClass: string) => ProtocolError,
  text: string,
  dataClass: string,
  limits: TextLimits | undefined,
): PathListItem[] {
  try {
    return parsePathList(text, limits)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw error.followedBy(consequence(text, dataClass))
  }
}

/**
 * Reads `name, employer.name, staff.*, staff:10-20`. An empty text is an empty list.
 * @throws {ParseErrors.PATH_LIST} {@link ParseErrors.TOO_MANY_ITEMS} 1201
 * Source: protocol notes, 1.10, 4.1, 4.2.
 */
export function parsePathList(text: string, limits: TextLimits = TEXT_LIMITS): PathListItem[] {
  const { maxTextLength, maxListItems } = limits
  if (text.length > maxTextLength) throw ParseErrors.QUERY_TOO_LONG(text.length, maxTextLength)
  if (text.trim() === '') return []
  const elements = text.split(',', maxListItems + 1)
  if (elements.length > maxListItems) throw ParseErrors.TOO_MANY_ITEMS(maxListItems)
  let offset = 0
  return elements.map(element => {
    const item = readElement(text, element, offset, limits)
    offset += element.length + 1
    return item
  })
}

function readElement(text: string, element: string, offset: number, { maxPathSteps }: TextLimits): PathListItem {
  const colon = element.indexOf(':')
  const names = colon < 0 ? element : element.slice(0, colon)
  const path = names.split('.', maxPathSteps + 1).map(name => name.trim())
  if (path.length > maxPathSteps) throw ParseErrors.PATH_TOO_LONG(maxPathSteps)
  if (path.includes(''))
    throw ParseErrors.PATH_LIST(placeOf(text, offset), 'an attribute, such as name or employer.name')
  if (names.includes('[')) {
    throw ParseErrors.PATH_LIST(
      placeOf(text, offset),
      'names only; elements of collections can be asked for in filters',
    )
  }
  if (path.slice(0, -1).some(name => name === '*' || name === '$all')) {
    throw ParseErrors.PATH_LIST(placeOf(text, offset), '* and $all only at the end of a path')
  }
  return { path, range: colon < 0 ? undefined : readRange(element.slice(colon + 1)) }
}

function readRange(suffix: string): PathListItem['range'] {
  const [count, skip = '0', ...others] = suffix.split('-').map(part => part.trim())
  return count !== undefined && isCount(count) && isCount(skip) && others.length === 0
    ? { count: Number(count), skip: Number(skip) }
    : undefined
}

/** True for up to nine digits, which stay below the limit of row numbers, 2³¹. */
const isCount = (text: string): boolean => /^\d{1,9}$/.test(text)
