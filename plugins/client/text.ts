/** Types and labels in the source of a client. */
import { isIdentifier } from '../../engine/index.ts'

/** True for names that can be labels in the type of a tuple. */
export const isLabel = (name: string): boolean => isIdentifier(name) && !NO_LABELS.has(name)
/**
 * Encodes a name as the part of an identifier after its first character. Names of dataclasses have no `$`, so that different names stay
 * different.
 */
export const partOfIdentifier = (name: string): string =>
  name.replace(/[^\p{ID_Continue}]/gu, sign => `$${sign.codePointAt(0)!.toString(16)}`)
/** A union of types; `never` if there are none. */
export const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never'
/** `{ a: A; b: B }` over several lines. */
export function block(members: readonly string[]): string {
  if (members.length === 0) return '{}'
  return `{\n${members.flatMap(member => member.split('\n').map(line => `  ${line}\n`)).join('')}}`
}

/** Words that cannot begin a type, which is why the compiler does not accept them as labels. */
const NO_LABELS = new Set(
  (
    'break case catch class const continue debugger default delete do else enum export extends finally for if in instanceof ' +
    'return super switch throw try var while with'
  ).split(' '),
)
