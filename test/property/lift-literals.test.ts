/**
 * A text whose literals are lifted out before the parse and put back into the tree of its shape reads as it would without
 * this: the same tree or the same error. All texts share one cache, so that each meets the shapes of others.
 */
import t from 'tap'
import { ProtocolError } from '../../engine/base/errors.ts'
import { liftingParser, liftLiterals } from '../../engine/query/parse/lift-literals.ts'
import { parseQuery } from '../../engine/query/parse/parse-query.ts'
import { isLong, longCount, timeoutMs } from '../support/runner/rounds.ts'
import fc from '../support/runner/fast-check.ts'

const operands = [
  'a',
  'employer.name',
  '"first name"',
  "'x.y'",
  'o.c[].n',
  'r{2}.x',
  ':1',
  'not',
  'nothing',
  'order',
  'x',
]
const comparators = [
  ...[
    '=',
    '=',
    '==',
    '===',
    '!=',
    '!==',
    '#',
    '##',
    '<',
    '<=',
    '>',
    '>=',
    '%',
    '%%',
    '=%',
    '=<',
    '= not',
    '=not',
    '=!',
  ],
  ...[' begin ', ' like ', ' in ', ' is ', ' is not ', ' eq ', '=  ', '=\n'],
]
const values = [
  ...[
    'x',
    'Smith',
    'é😀',
    '5',
    '-5.5e3',
    '2020-01-31',
    '12:30:00',
    'a@b',
    '@',
    'null',
    'NULL',
    'nullx',
    'not',
    'nothing',
    'not@',
  ],
  ...[
    'not.1',
    'eval',
    'evaluate',
    'eval (a)',
    'eval(a = 1)',
    '$(a)',
    '$x',
    ':1',
    ':x.y',
    ':',
    'x:1',
    "O'Reilly",
    'a"b',
    '*',
    '/',
  ],
  ...[
    '""',
    "''",
    '"x"',
    "'y'",
    '"and b = 1"',
    `'a "b" > c'`,
    `"it's = 'so'"`,
    '"a',
    "'a",
    '"[x]"',
    '"(a"',
    '\\"a b\\"',
    "'\\u0027'",
  ],
  ...[
    '[a,"b"]',
    '[a=b]',
    '[',
    'a]',
    'f(b)',
    '(',
    ')',
    '',
    ' ',
    'true',
    'asc',
    'by',
    'a,b',
    '\u00a0',
    'a b',
    'x{2}',
    '~',
    '`',
    'a^b',
  ],
]
const conjunctions = [
  ' and ',
  '&',
  '&&',
  ' or ',
  '|',
  '||',
  '^',
  ' except ',
  '&!',
  ' and not ',
  ' and (',
  ') or ',
  ' order by ',
  ',',
]

const pick = (from: readonly string[]) => fc.constantFrom(...from)
const condition = fc.tuple(
  pick(['', '', '!', 'not ', '(']),
  pick(operands),
  pick(comparators),
  pick(['', ' ']),
  pick(values),
  pick(['', '', '', ')']),
)
const query = fc
  .array(fc.tuple(condition, pick(conjunctions)), { minLength: 1, maxLength: 4 })
  .map(parts => parts.flat(2).slice(0, -1).join(''))
const soup = fc
  .array(pick([...operands, ...comparators, ...values, ...conjunctions, ' ']), { maxLength: 12 })
  .map(parts => parts.join(''))

const withoutSpans = (key: string, value: unknown): unknown => (key === 'span' ? undefined : value)

function read(parse: (text: string) => unknown, text: string): string {
  try {
    return JSON.stringify(parse(text), withoutSpans)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return `${error.name}: ${error.message}`
  }
}

t.setTimeout(timeoutMs)
t.test('lifted literals are read like literals in the text', async t => {
  const lifting = liftingParser(parseQuery, { entries: 500, sizeBytes: 2 ** 22 })
  let shared = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: query }, soup), text => {
      if (liftLiterals(text)) shared++
      const [found, expected] = [read(lifting, text), read(parseQuery, text)]
      if (found !== expected) throw new Error(`${text}\n${found}\ninstead of\n${expected}`)
    }),
    { numRuns: isLong ? longCount(60_000) : 4_000 },
  )
  t.ok(shared > 500, `${shared} texts had literals to lift`)
})

t.test('texts that differ in their literals have one shape', async t => {
  const shapes = (...texts: string[]) => new Set(texts.map(text => liftLiterals(text)?.shape)).size
  t.equal(shapes('lastName=Smith', 'lastName=Abel', 'lastName=5'), 1)
  t.equal(shapes('a = "Smith" and b >= 5', 'a = "it\'s" and b >= 2020-01-31'), 1)
  t.equal(shapes('name begin "a"', 'name begin "bc"'), 1)
  t.equal(shapes('a = 5', 'a = "5"', "a = '5'"), 3)
  t.equal(liftLiterals('a = null'), undefined)
  t.equal(liftLiterals('a = :1'), undefined)
  t.equal(liftLiterals('a in ["x"]'), undefined)
})

t.test('a shape is parsed once', async t => {
  const asked: string[] = []
  const lifting = liftingParser(
    text => {
      asked.push(text)
      return parseQuery(text)
    },
    { entries: 10, sizeBytes: 100_000 },
  )
  for (const name of ['Smith', 'Abel', 'Chen']) lifting(`lastName = ${name} and age > 5`)
  t.strictSame(asked, ['lastName = x and age > x'])
})
