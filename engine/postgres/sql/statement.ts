/** A statement with parameters: `$1` is the first value. Values never stand in the text. */
export interface Statement {
  readonly text: string
  /** As texts, which the statement casts to their types. */
  readonly values: readonly (string | null)[]
  /** Runs once or seldom, or is several commands without values: not prepared. */
  readonly isPlain?: boolean
  /** Describes tables, so that those of the server have to be there. */
  readonly isDescription?: boolean
  /** The text without the list of its columns, among which may be some that clients do not know. */
  readonly shownText?: string
}

/** Values of the columns of one row, as texts. */
export type Cells = readonly (string | null)[]
