/**
 * SQL folds texts as the engine does, as an expression and as a function, and sorts and compares them in the same way. Skipped where
 * PostgreSQL is not installed.
 *
 * PostgreSQL and ICU may know an earlier version of Unicode than V8, or a later one: then one of them leaves a character as it is.
 */
import t from 'tap'
import { compareFolded, fold } from '../../engine/base/text/fold.ts'
import {
  foldFunction,
  foldCall,
  foldExpression,
  fromStored,
  markClass,
  toStored,
} from '../../engine/postgres/sql/fold-sql.ts'
import { Parameters } from '../../engine/postgres/sql/parameters.ts'
import { openRemoteSql } from '../support/databases/remote-sql.ts'
import { randomOf } from '../support/base/random.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'

/** Planes of Unicode that have characters, beside those for private use. */
const PLANES = [0, 1, 2, 3, 14]
/** Code points of a statement. */
const BATCH = 0x8000
/** Characters that one version of Unicode has and another has not. */
const MAX_UNKNOWN = 200
const TEXTS = 3_000

const MODEL = {
  name: 'empty',
  dataClasses: { None: { storage: { postgres: 'db' }, key: 'ID', attributes: { ID: { type: 'long' } } } },
}

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  const sql = await openRemoteSql(server, MODEL)
  t.teardown(() => sql.close())
  await server.run(foldFunction())

  /** Folds of texts by an expression. */
  const foldsOf = async (texts: readonly string[], expression: string): Promise<string[]> => {
    const parameters = new Parameters()
    const list = parameters.list(texts, 'text')
    const rows = await sql.run(
      parameters.statement(`SELECT ${expression} FROM unnest(${list}) WITH ORDINALITY AS t (x, n) ORDER BY n`),
    )
    return rows.map(([folded]) => folded!)
  }
  const INLINE = foldExpression('x', `'${markClass()}'`)
  const FUNCTION = foldCall('x')

  t.test('every character', async t => {
    let unknown = 0
    const wrong: string[] = []
    for (const plane of PLANES) {
      for (let start = plane * 0x10000; start < (plane + 1) * 0x10000; start += BATCH) {
        const characters: string[] = []
        for (let code = Math.max(1, start); code < start + BATCH; code++) {
          if (code < 0xd800 || code > 0xdfff) characters.push(String.fromCodePoint(code))
        }
        for (const [i, folded] of (await foldsOf(characters, INLINE)).entries()) {
          const character = characters[i]!
          const expected = toStored(fold(character))
          if (folded === expected) continue
          unknown++
          const isUnknown = folded === toStored(character) || fold(character) === character
          if (!isUnknown) wrong.push(`U+${character.codePointAt(0)!.toString(16)}: ${folded} instead of ${expected}`)
        }
      }
    }
    t.same(wrong, [])
    t.ok(unknown <= MAX_UNKNOWN, `${unknown} characters are known in one version of Unicode only`)
  })

  const random = randomOf(41)
  const SOME = [
    ...'aAbBzZ09 _%\\\'"@~',
    ...'éÉåÅøßẞİıſΣσςΟΔ漢字かがガ각힣ﬁ',
    ...[
      '\u0301',
      '\u0308',
      '\u0345',
      '\u20e3',
      '\ufe0f',
      '\ue000',
      '\uf8ff',
      '\ufffd',
      '\uffff',
      '\ud7ff',
      '\u1e9b\u0323',
    ],
    ...['😀', '𝒜', '𐐀', '𞤀', '\u{1d165}', '\u{10fffe}', '\u{10ffff}', '\u{e0100}', '\u0001', '\u007f', '\u0080', '\n'],
  ]
  const texts = Array.from({ length: TEXTS }, () =>
    Array.from({ length: random.integer(0, 6) }, () => random.pick(SOME)).join(''),
  )

  t.test('texts, by the expression and by the function', async t => {
    const expected = texts.map(text => toStored(fold(text)))
    t.same(await foldsOf(texts, INLINE), expected)
    t.same(await foldsOf(texts, FUNCTION), expected)
    t.same(
      expected.map(fromStored),
      texts.map(text => fold(text)),
    )
  })

  t.test('the order of texts', async t => {
    const parameters = new Parameters()
    const list = parameters.list(texts, 'text')
    const rows = await sql.run(
      parameters.statement(
        `SELECT n FROM unnest(${list}) WITH ORDINALITY AS t (x, n) ORDER BY tesser.fold(x) COLLATE "C", n`,
      ),
    )
    const folds = texts.map(text => fold(text))
    const expected = folds.map((_, i) => i).sort((a, b) => compareFolded(folds[a]!, folds[b]!) || a - b)
    t.same(
      rows.map(([n]) => Number(n) - 1),
      expected,
    )
  })

  t.test('a text of many marks takes no longer than another', async t => {
    const long = `a${'\u0301\u0323'.repeat(50_000)}`
    t.same(await foldsOf([long], INLINE), ['a'])
  })
}
