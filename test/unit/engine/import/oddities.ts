/** Odd files of CSV: the dataclass that is proposed for each, and the rows that are loaded. */
import t from 'tap'
import type { TextFormat } from '../../../../engine/import/sample-file.ts'
import { type GuessedFile, guessFile, loadGuessed, typesOf } from '../../../support/commands/guessed-class.ts'

/** CSV files as they are found: the dataclass that is proposed, and the values after loading. */

export interface Oddity {
  readonly name: string
  readonly file: string | Buffer
  /** Types of the attributes, by name. */
  readonly types: Readonly<Record<string, string>>
  readonly rows: readonly (readonly unknown[])[]
  /** Lines of rows that cannot be saved, with a reason. */
  readonly rejected?: Readonly<Record<number, RegExp>>
  readonly given?: TextFormat
  /** Format that is guessed, as far as it is checked. */
  readonly format?: object
  /** A question that stays open. */
  readonly open?: RegExp
  readonly key?: string
}

/** A file with the column `v`. */
export const column = (
  name: string,
  values: readonly string[],
  type: string,
  loaded: readonly unknown[],
  more: Partial<Oddity> = {},
): Oddity => ({
  name,
  file: `n,v\n${values.map((value, i) => `r${i},${/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value}\n`).join('')}`,
  types: { n: 'string', v: type },
  rows: loaded.map((value, i) => [`r${i}`, value]),
  ...more,
})

/** Proposes dataclasses for all files, and loads them together. */
export function loadEach(oddities: readonly Oddity[], least = 25): void {
  t.test(`${oddities.length} oddities`, async t => {
    t.ok(oddities.length >= least, `${oddities.length}`)
    const guessed: GuessedFile[] = []
    for (const { file, given } of oddities)
      guessed.push(await guessFile(typeof file === 'string' ? Buffer.from(file) : file, given))
    const loaded = await loadGuessed(t, guessed)
    for (const [i, { name, types, rows, rejected = {}, format, open, key }] of oddities.entries()) {
      const { sample, proposed } = guessed[i]!
      t.strictSame(typesOf(guessed[i]!), types, `${name}: types`)
      t.strictSame(loaded[i]!.rows, rows, `${name}: values`)
      t.strictSame(
        loaded[i]!.rejected.map(({ line }) => String(line)),
        Object.keys(rejected),
        `${name}: rejected rows`,
      )
      for (const { line, errors } of loaded[i]!.rejected) t.match(errors[0], rejected[line], name)
      if (format) t.match(sample.format, format, name)
      const questions = sample.open.map(({ text }) => text)
      if (open) t.match(questions, [open], name)
      else t.strictSame(questions, [], name)
      if (key) t.equal(proposed.dataClass.key, key, name)
    }
  })
}
