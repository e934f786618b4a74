import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Statement } from './statement.ts'

/** Maximum number of values of a statement: the protocol counts them with 16 bits. */
const MAX_VALUES = 65_535

/** Values of a statement that is being written. */
export class Parameters {
  private readonly values: (string | null)[] = []

  /** @param type to which SQL casts the text @returns SQL of the value */
  readonly add = (text: string | null, type: string): string => {
    this.values.push(text)
    return `$${this.values.length}::${type}`
  }

  /** Adds a parameter, or returns the earlier one with the same text. */
  readonly once = (text: string, type: string): string => {
    const position = this.values.indexOf(text)
    return position < 0 ? this.add(text, type) : `$${position + 1}::${type}`
  }

  /** A list of values as an array. */
  readonly list = (texts: readonly string[], type: string): string => this.add(arrayText(texts), `${type}[]`)

  statement(text: string): Statement {
    if (this.values.length > MAX_VALUES) throw RemoteErrors.TOO_MANY_VALUES(this.values.length, MAX_VALUES)
    return { text, values: this.values }
  }

  /** @param list SQL of the columns of the answer @param rest rest of the statement, starting with `FROM` */
  select(list: string, rest: string): Statement {
    return { ...this.statement(`SELECT ${list} ${rest}`), shownText: `SELECT … ${rest}` }
  }
}

/** Text of an array of texts. */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map(text => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

/** False for texts that no PostgreSQL database can store. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
