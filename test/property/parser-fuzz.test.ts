import t from 'tap'
import { ProtocolError } from '../../engine/base/errors.ts'
import { parseOrderBy } from '../../engine/query/parse/parse-order-by.ts'
import { parseParams } from '../../engine/query/parse/parse-params.ts'
import { parsePathList } from '../../engine/query/parse/parse-path-list.ts'
import { parseQuery } from '../../engine/query/parse/parse-query.ts'
import { parsePath } from '../../kernel/url/parse-path.ts'
import { parseQueryString } from '../../kernel/url/parse-query-string.ts'
import fc from '../support/runner/fast-check.ts'
import { isLong, seedOf } from '../support/runner/rounds.ts'

/** Whatever a client sends, a parser returns a result or throws an error of the protocol. */
const parsers: { name: string; parse: (text: string) => unknown; samples: string[] }[] = [
  {
    name: 'parseQuery',
    parse: parseQuery,
    samples: [
      `lastName = "s@" and (salary >= 20000 or not employer.name begin 'acme') except woman order by a desc, b`,
      `a in ["x", 'y', z] && b[a].c{2} #:1||!(c === null)^d like not O'Reilly`,
      'roles.actor{2}.lastName=:1 and o.c[].n % "word" or "first name" is not :x.y',
      'eval(a) = 1 and $(b) or a matches "x"',
    ],
  },
  { name: 'parseOrderBy', parse: parseOrderBy, samples: ['a.b desc, "c d" ASC,e[a].f{3}', 'lastName'] },
  {
    name: 'parseParams',
    parse: parseParams,
    samples: [
      `["a", 1.5e+3, null, {vector:[1,2],metric:'dot'}]`,
      `{"parameters":{"p":"\\u0027"},attributes:{a:'it\\'s'}}`,
      '{"__proto__":{"constructor":{"prototype":1}}}',
    ],
  },
  { name: 'parsePathList', parse: parsePathList, samples: ['a, b.c, *, rel.$all, staff:10-20', 'photo:best'] },
  {
    name: 'parseQueryString',
    parse: parseQueryString,
    samples: [
      `$filter="name='a&b'"&$params=["x",1]&%24top=%2740%27&$orderby='a' desc`,
      `$filter=lastName=O'Reilly&$params='["%C3%A9"]'&x&=y&$filter=%22a%22`,
    ],
  },
  {
    name: 'parsePath',
    parse: parsePath,
    samples: [`/Person("a/b",2, 'c')/name,staff/$entityset/AB`, '/City%5B1%2C2%5D//f("x/y")/', '/City:zip[75001]/$all'],
  },
]

/** Pieces most likely to upset a parser: its own signs, quotes, escapes, lone surrogates. */
const signs = [
  ...`"'\`\\()[]{}<>=!#%^&|:;,.+-*/?@$_~ \t\n\0`,
  ...['%22', '%27', '%2', '%', '%ff', '%C3', '\\u0027', '\\"', 'é', '😀', '\ud800', '\udc00', '\ufeff'],
  ...[' and ', ' or ', ' not ', ' in ', ' is ', 'order by ', 'null', 'eval(', '__proto__', 'a', '1'],
]

type Edit = { at: number; remove: number; insert: string }
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(120),
  remove: fc.oneof(fc.constant(0), fc.nat(8)),
  insert: fc.oneof(
    fc.constantFrom(...signs),
    fc.constantFrom(...signs).map(sign => sign.repeat(30)),
  ),
})
const applied = (text: string, edits: Edit[]): string =>
  edits.reduce((rest, { at, remove, insert }) => {
    const i = at % (rest.length + 1)
    return rest.slice(0, i) + insert + rest.slice(i + remove)
  }, text)

const random = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...signs), { maxLength: 40 }).map(parts => parts.join('')),
)

const INPUTS = isLong ? 100_000 : 30_000
const seed = seedOf()

for (const { name, parse, samples } of parsers) {
  t.test(`${name} throws only errors of the protocol`, async t => {
    const mutated = fc
      .tuple(fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 4 }))
      .map(([sample, edits]) => applied(sample, edits))
    fc.assert(
      fc.property(fc.oneof({ weight: 3, arbitrary: mutated }, random), text => {
        try {
          parse(text)
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error
          return (
            error.httpStatus >= 400 &&
            error.httpStatus < 500 &&
            error.entries.length > 0 &&
            error.message.length < 1_000
          )
        }
        return true
      }),
      { numRuns: Math.ceil(INPUTS / parsers.length), seed },
    )
    t.pass('no other error')
  })
}
