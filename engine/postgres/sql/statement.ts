/** A statement with parameters: `$1` is the first value. The text never contains values. */
export interface Statement {
  readonly text: string
  /** Values as texts, which the statement casts to their types. */
  readonly values: readonly (string | null)[]
  /** True if the statement is not prepared: it runs once or seldom, or consists of several commands without values. */
  readonly isPlain?: boolean
  /** True if the statement describes tables, so that the tables of the server have to exist. */
  readonly isDescription?: boolean
  /** The text without its list of columns, which may contain columns that are hidden from clients. */
  readonly shownText?: string
}

/** Values of the columns of one row, as texts. */
export type Cells = readonly (string | null)[]
