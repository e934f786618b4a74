import fc from '../runner/fast-check.ts'
import type {
  Comparator,
  Expression,
  OrderTerm,
  PathStep,
  PathSyntax,
  PlaceholderSyntax,
  QuerySyntax,
  ValueSyntax,
} from '../../../engine/query/parse/syntax-tree.ts'

/** Generated syntax trees of queries: everything that the grammar can produce. */
export const span = { start: 0, end: 0 }
const comparators: Comparator[] = [
  'equal',
  'notEqual',
  'is',
  'isNot',
  'less',
  'lessOrEqual',
  'greater',
  'greaterOrEqual',
  'begin',
  'in',
  'keyword',
]

const plainName = fc.constantFrom(
  'a',
  'lastName',
  'employer',
  '__KEY',
  'größe',
  'имя',
  'x-1',
  '$v',
  '0',
  'asc',
  'like',
  'and',
)
const strangeName = fc.constantFrom(
  'first name',
  'a=b',
  'not',
  'or',
  'x(y)',
  "l'âge",
  'a,b',
  ' ',
  'order by',
  '\\',
  ':1',
  'a*',
)
const keywords = ['not', 'and', 'or', 'except', 'null']
const text = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.stringMatching(/^[ -~]{0,12}$/))
  .filter(value => !value.includes('\\u002'))
// The first character of a word may begin something else: a quoted text, a placeholder, a list.
const word = fc
  .stringMatching(/^[a-zé0-9_.,:@'"[\]{}+*-]{1,8}$/)
  .filter(value => !/^[:['"]/.test(value) && !keywords.includes(value))
const item = fc.stringMatching(/^[a-z0-9é=()<]([a-z0-9 é=()<'"]{0,6}[a-z0-9é])?$/)

const step: fc.Arbitrary<PathStep> = fc.record({
  name: fc.oneof({ weight: 4, arbitrary: plainName }, strangeName),
  classIndex: fc.option(fc.integer({ min: 1, max: 999 }), { nil: undefined }),
  element: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    fc.constant({ kind: 'any' as const }),
    fc.constantFrom('a', 'z').map(letter => ({ kind: 'link' as const, letter })),
  ),
})
const path: fc.Arbitrary<PathSyntax> = fc
  .array(step, { minLength: 1, maxLength: 3 })
  .map(steps => ({ kind: 'path', steps, span }))
const placeholder: fc.Arbitrary<PlaceholderSyntax> = fc
  .array(plainName, { minLength: 1, maxLength: 2 })
  .map(names => ({ kind: 'placeholder', path: names, span }))
const operand = fc.oneof({ weight: 4, arbitrary: path }, placeholder)

const listItem = fc.oneof(
  text.map(value => ({ text: value, quoted: true })),
  item.map(value => ({ text: value, quoted: false })),
)
const value: fc.Arbitrary<ValueSyntax> = fc.oneof(
  text.map(value => ({ kind: 'literal' as const, text: value, quoted: true, span })),
  word.map(value => ({ kind: 'literal' as const, text: value, quoted: false, span })),
  fc.array(listItem, { maxLength: 4 }).map(items => ({ kind: 'list' as const, items, span })),
  fc.constant({ kind: 'null' as const, span }),
  placeholder,
)

const comparison: fc.Arbitrary<Expression> = fc
  .record({ path: operand, comparator: fc.constantFrom(...comparators), value })
  .map(parts => ({ kind: 'comparison', ...parts, span }))
const truth: fc.Arbitrary<Expression> = operand.map(path => ({ kind: 'truth', path, span }))

/** Trees that the grammar can produce: the right side of a conjunction and the operand of `not` are one term each. */
const { expression } = fc.letrec<{ expression: Expression; term: Expression }>(tie => ({
  term: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    comparison,
    truth,
    tie('term').map(operand => ({ kind: 'not' as const, operand, span })),
    tie('expression').map(inner => ({ kind: 'group' as const, inner, span })),
  ),
  expression: fc
    .tuple(
      tie('term'),
      fc.array(fc.tuple(fc.constantFrom('and' as const, 'or' as const, 'except' as const), tie('term')), {
        maxLength: 3,
      }),
    )
    .map(([first, rest]) => rest.reduce<Expression>((left, [kind, right]) => ({ kind, left, right, span }), first)),
}))

const orderTerm: fc.Arbitrary<OrderTerm> = fc.record({ path, descending: fc.boolean() })
export const querySyntax: fc.Arbitrary<QuerySyntax> = fc.record({
  condition: fc.option(expression, { nil: undefined }),
  orderBy: fc.array(orderTerm, { maxLength: 2 }),
})

/** Syntax without its spans. */
export const withoutSpans = (syntax: QuerySyntax): unknown =>
  JSON.parse(JSON.stringify(syntax, (key, value) => (key === 'span' ? undefined : value)))
