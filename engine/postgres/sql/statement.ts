/** A statement with parameters: `$1` is the first value. Values never stand in the text. */
export interface Statement {
  readonly text: string
  /** As texts, which the statement casts to their types. */
  readonly values: readonly (string | null)[]
  /** The text without the list of its columns, among which may be some that clients do not know. */
  readonly shown?: string
  /** Several commands without values, which are not prepared. */
  readonly isPlain?: true
}
