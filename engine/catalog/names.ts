/** Names that need no quotes in a URL, a query or a row. */
const NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u
const MAX_NAME_LENGTH = 100
/** Words that have a meaning in queries where a name could be, in upper or lower case. */
const QUERY_WORDS = new Set(['not', 'and', 'or', 'except'])

/** Fault of a name that the model gives to a dataclass, a collection or an attribute; undefined if there is none. */
export function nameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `has ${name.length} characters; at most ${MAX_NAME_LENGTH} will do`
  if (name.startsWith('__')) return 'starts with "__", which is reserved for the protocol'
  if (!NAME.test(name)) return 'may have letters, digits and "_" only, and starts with a letter or "_"'
  // An accented letter has two spellings in Unicode, and a client's URL may use either.
  if (name !== name.normalize('NFC')) return 'is not in Unicode normalization form C'
  if (QUERY_WORDS.has(name.toLowerCase())) return 'is a word of the query language'
  return undefined
}
