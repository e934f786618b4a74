import type { Statement } from './statement.ts'

/** Values of a statement that is being written. */
export class Parameters {
  private readonly values: string[] = []

  /** @param type to which SQL casts the text @returns SQL of the value */
  readonly add = (text: string, type: string): string => {
    this.values.push(text)
    return `$${this.values.length}::${type}`
  }

  /** A list of values as an array. */
  readonly list = (texts: readonly string[], type: string): string => this.add(arrayText(texts), `${type}[]`)

  statement(text: string): Statement {
    return { text, values: this.values }
  }

  /** @param list SQL of the columns of the answer @param rest of the statement, from `FROM` on */
  select(list: string, rest: string): Statement {
    return { text: `SELECT ${list} ${rest}`, values: this.values, shown: `SELECT … ${rest}` }
  }
}

/** Text of an array of texts. */
export const arrayText = (texts: readonly string[]): string =>
  `{${texts.map(text => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

/** False for texts that no database of PostgreSQL holds. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
