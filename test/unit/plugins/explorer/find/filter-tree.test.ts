import t from 'tap'
import { partsOf } from '../../../../../plugins/explorer/page/base/filter-tokens.ts'
import { textOf, treeOf } from '../../../../../plugins/explorer/page/find/filter-tree.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'
import fc from '../../../../support/runner/fast-check.ts'
import { formatQuery } from '../../../../support/engine/format-query.ts'
import { querySyntax, withoutSpans } from '../../../../support/engine/query-syntax.ts'

const numRuns = process.env.TESSER_TEST_LONG ? 20_000 : 1_000

/** The engine's tree of a text, or undefined for a text that it refuses. */
function engineTree(text: string): unknown {
  try {
    return withoutSpans(parseQuery(text))
  } catch {
    return undefined
  }
}

/** Compares a text with the text of its tree, by the engine's trees. @returns true if the builder shows it */
function isShown(text: string): boolean {
  const tree = treeOf(text)
  if (!tree) return false
  t.strictSame(engineTree(textOf(tree)), engineTree(text), `${text} → ${textOf(tree)}`)
  t.not(engineTree(text), undefined, `${text} is right`)
  t.strictSame(treeOf(textOf(tree)), tree, `${text} is read again as it was written`)
  return true
}

t.test('printed syntax trees', async t => {
  let shown = 0
  fc.assert(
    fc.property(querySyntax, syntax => {
      if (isShown(formatQuery(syntax))) shown++
    }),
    { numRuns },
  )
  t.ok(shown > numRuns / 10, `${shown} of ${numRuns} are shown`)
})

t.test('texts made of pieces of queries', async () => {
  const pieces = [
    ...[
      'name',
      'a.b',
      'a[].b',
      '"first name"',
      "'x'",
      'not',
      '!',
      '(',
      ')',
      'and',
      '&',
      '&&',
      'or',
      '|',
      'except',
      '^',
    ],
    ...[
      '=',
      '==',
      '!=',
      '#',
      '===',
      'is',
      'is not',
      'isnot',
      '= not',
      '<',
      '<=',
      'gte',
      'begin',
      'in',
      '%',
      'like',
      '=%',
    ],
    ...[
      '3',
      'x@',
      'null',
      'nullx',
      '"it\'s"',
      '"\\u0022"',
      '[1, "2"]',
      "['a']",
      '[]',
      '[a,]',
      ':1',
      'order by',
      'desc',
    ],
    ...['$', 'eval', 'asc', ',', '\\"a\\"', 'nothing', "not'x'", 'and.b', '-', '{1}'],
  ]
  const text = fc
    .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom(' ', ' ', ' ', '', '\t')), { maxLength: 9 })
    .map(parts => parts.flat().join(''))
  fc.assert(
    fc.property(text, text => void isShown(text)),
    { numRuns: numRuns * 10 },
  )
})

t.test('conditions from left to right', async t => {
  const tree = treeOf('a = 1 or (b is not "x y" and not c) except d in [1, "2"] order by e desc, f')
  t.strictSame(tree, {
    terms: [
      {
        conjunction: 'and',
        isNegated: false,
        condition: {
          kind: 'comparison',
          path: 'a',
          comparator: '=',
          value: { kind: 'literal', text: '1', quoted: false },
        },
      },
      {
        conjunction: 'or',
        isNegated: false,
        condition: {
          kind: 'group',
          terms: [
            {
              conjunction: 'and',
              isNegated: false,
              condition: {
                kind: 'comparison',
                path: 'b',
                comparator: '!==',
                value: { kind: 'literal', text: 'x y', quoted: true },
              },
            },
            { conjunction: 'and', isNegated: true, condition: { kind: 'truth', path: 'c' } },
          ],
        },
      },
      {
        conjunction: 'except',
        isNegated: false,
        condition: {
          kind: 'comparison',
          path: 'd',
          comparator: 'in',
          value: {
            kind: 'list',
            items: [
              { text: '1', quoted: false },
              { text: '2', quoted: true },
            ],
          },
        },
      },
    ],
    order: [
      { path: 'e', descending: true },
      { path: 'f', descending: false },
    ],
  })
  t.equal(textOf(tree!), 'a = 1 or (b !== "x y" and not c) except d in [1, "2"] order by e desc, f')
})

t.test('filters that the builder cannot show', async t => {
  for (const text of ['a', 'not a', '', 'order by a', "a = ''", 'a = null']) t.ok(treeOf(text), text)
  for (const text of ['a = :1', 'a =', 'not not a', 'a = b c', '(a', 'a = \\"x\\"', 'a =% b', 'f(a) = 1', 'a and'])
    t.equal(treeOf(text), undefined, text)
})

t.test('input for a value is quoted where necessary', async t => {
  const written = (text: string, quoted = false) =>
    textOf({
      terms: [
        {
          conjunction: 'and',
          isNegated: false,
          condition: { kind: 'comparison', path: 'a', comparator: '=', value: { kind: 'literal', text, quoted } },
        },
      ],
      order: [],
    })
  t.equal(written('12'), 'a = 12')
  for (const text of ['', 'a b', 'not', 'null', ':1', '[x', '"', 'x=y', "not'a'"]) {
    t.match(written(text), /^a = ["']/, text)
    t.match(treeOf(written(text)), { terms: [{ condition: { value: { text } } }] }, text)
  }
})

t.test('conditions and order', async t => {
  t.strictSame(partsOf('a = "order by x" order by b desc, c '), { conditions: 'a = "order by x"', order: 'b desc, c' })
  t.strictSame(partsOf(' a = 1 '), { conditions: 'a = 1', order: '' })
  t.strictSame(partsOf('order by a'), { conditions: '', order: 'a' })
})
