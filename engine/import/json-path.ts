import { InputError } from '../base/input-error.ts'
import { excerpt } from '../base/text/excerpt.ts'

/** Maximum number of characters of a path, and of the text of a name that can be in one. */
export const MAX_PATH_LENGTH = 1_000
/** Maximum number of names in a path. */
export const MAX_PATH_NAMES = 50

/** Names that need no JSON pointer. */
const SIMPLE = /^[\p{L}\p{N}_$@-]+$/u
const WRONG_ESCAPE = /~(?![01])/

/**
 * Names of a path in a JSON document: dotted names as in `data.items`, or a JSON pointer as in `/data/items`. The empty path is the document.
 * @throws {InputError} it is not a path
 */
export function parsePath(text: string): string[] {
  const refuse = (why: string): InputError => new InputError(`the path ${JSON.stringify(excerpt(text))} ${why}`)
  if (text === '') return []
  if (text.length > MAX_PATH_LENGTH) throw refuse(`has more than ${MAX_PATH_LENGTH} characters`)
  const isPointer = text.startsWith('/')
  if (isPointer && WRONG_ESCAPE.test(text)) throw refuse('is a JSON pointer, in which ~0 is "~" and ~1 is "/"')
  const names = isPointer
    ? text
        .slice(1)
        .split('/')
        .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    : text.split('.')
  if (names.length > MAX_PATH_NAMES) throw refuse(`has more than ${MAX_PATH_NAMES} names`)
  if (!isPointer && names.includes(''))
    throw refuse('has an empty name; give names with dots between them, or a JSON pointer such as /data/items')
  return names
}

/** A path in the form that is easiest to read. */
export const showPath = (names: readonly string[]): string =>
  names.length > 0 && names.every(name => SIMPLE.test(name)) ? names.join('.') : quoted(pointerOf(names))

/** A path as a JSON pointer. */
export const pointerOf = (names: readonly string[]): string =>
  names.map(name => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const quoted = (pointer: string): string => (/^[^\s"\p{C}]*$/u.test(pointer) ? pointer : JSON.stringify(pointer))
