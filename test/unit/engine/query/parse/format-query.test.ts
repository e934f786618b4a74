import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import { formatQuery } from '../../../../support/engine/format-query.ts'
import { querySyntax, span, withoutSpans } from '../../../../support/engine/query-syntax.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'
import type { Expression } from '../../../../../engine/query/parse/syntax-tree.ts'

t.test('a printed query parses to the tree from which it was printed', async () => {
  fc.assert(
    fc.property(querySyntax, syntax =>
      isDeepStrictEqual(withoutSpans(parseQuery(formatQuery(syntax))), withoutSpans(syntax)),
    ),
    { numRuns: process.env.TESSER_TEST_LONG ? 20_000 : 1_000 },
  )
})

t.test('a tree that the grammar cannot produce is printed with parentheses', async t => {
  const name = (text: string): Expression => ({
    kind: 'truth',
    path: { kind: 'path', steps: [{ name: text, classIndex: undefined, element: undefined }], span },
    span,
  })
  const either: Expression = { kind: 'or', left: name('b'), right: name('c'), span }
  t.equal(
    formatQuery({ condition: { kind: 'and', left: name('a'), right: either, span }, orderBy: [] }),
    'a and (b or c)',
  )
  t.equal(formatQuery({ condition: { kind: 'not', operand: either, span }, orderBy: [] }), 'not (b or c)')
})
