/**
 * The input of clients is bounded by options, which error messages name; parsing takes time linear in its length.
 */
import t from 'tap'
import { TEXT_LIMITS, type TextLimits } from '../../../../../engine/query/parse/limits.ts'
import { parseOrderBy } from '../../../../../engine/query/parse/parse-order-by.ts'
import { parseParams } from '../../../../../engine/query/parse/parse-params.ts'
import { parsePathList } from '../../../../../engine/query/parse/parse-path-list.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'
import { cpuMicroseconds } from '../../../../support/base/cpu.ts'

type Parse = (text: string, limits: TextLimits) => unknown

const cases: { limit: keyof TextLimits; value: number; parse: Parse; within: string; beyond: string }[] = [
  { limit: 'maxTextLength', value: 5, parse: parseQuery, within: 'a = 1', beyond: 'a = 12' },
  { limit: 'maxTextLength', value: 5, parse: parseOrderBy, within: 'a,b,c', beyond: 'a,b,cd' },
  { limit: 'maxTextLength', value: 5, parse: parsePathList, within: 'a,b,c', beyond: 'a,b,cd' },
  { limit: 'maxConditions', value: 2, parse: parseQuery, within: 'a and b = 1', beyond: 'a and b = 1 or c' },
  { limit: 'maxNesting', value: 2, parse: parseQuery, within: '((a))', beyond: 'not ((a))' },
  { limit: 'maxPathSteps', value: 2, parse: parseQuery, within: 'a.b = 1', beyond: 'a.b.c = 1' },
  { limit: 'maxPathSteps', value: 2, parse: parseOrderBy, within: 'a.b', beyond: 'a.b.c' },
  { limit: 'maxPathSteps', value: 2, parse: parsePathList, within: 'a.b', beyond: 'a.b.c' },
  { limit: 'maxOrderTerms', value: 2, parse: parseOrderBy, within: 'a,b', beyond: 'a,b,c' },
  { limit: 'maxOrderTerms', value: 2, parse: parseQuery, within: 'a order by a,b', beyond: 'a order by a,b,c' },
  { limit: 'maxListItems', value: 2, parse: parsePathList, within: 'a,b', beyond: 'a,b,c' },
  { limit: 'maxParams', value: 4, parse: parseParams, within: '[1,[2,3]]', beyond: '[1,[2,3],4]' },
  {
    limit: 'maxParams',
    value: 4,
    parse: parseParams,
    within: '[a,{b:1}]'.replace('a', '0'),
    beyond: '[{a:1,b:2,c:3,d:4}]',
  },
  { limit: 'maxParamsDepth', value: 2, parse: parseParams, within: '[[1]]', beyond: '[[[1]]]' },
  { limit: 'maxParamsDepth', value: 2, parse: parseParams, within: '[{a:"[[["}]', beyond: '[{a:[1]}]' },
]

for (const { limit, value, parse, within, beyond } of cases) {
  t.test(`query.${limit}: ${beyond}`, async t => {
    const limits = { ...TEXT_LIMITS, [limit]: value }
    t.doesNotThrow(() => parse(within, limits))
    t.throws(() => parse(beyond, limits), { message: new RegExp(`${value} .*\\(query\\.${limit}\\)`) })
    t.doesNotThrow(() => parse(beyond, TEXT_LIMITS), 'accepted by default')
  })
}

t.test('long parameters must be strict JSON', async t => {
  const limits = { ...TEXT_LIMITS, maxTextLength: 100 }
  t.ok(parseParams(`[${'"x",'.repeat(100)}"y"]`, limits))
  t.ok(parseParams("['x']", limits))
  t.throws(() => parseParams(`[${"'x',".repeat(100)}'y']`, limits), { message: /this is not JSON/ })
})

const worst: { name: string; parse: (text: string) => unknown; text: (n: number) => string }[] = [
  { name: 'conditions', parse: parseQuery, text: n => `a = 1${' or b = 2'.repeat(n)}` },
  { name: 'parentheses', parse: parseQuery, text: n => `a${` or ${'('.repeat(8)}b${')'.repeat(8)}`.repeat(n)}` },
  { name: 'quotes by their codes', parse: parseQuery, text: n => `a = \\u0022${'x\\u0022y'.repeat(n)}` },
  { name: 'a list', parse: parseQuery, text: n => `a in [${'"x",'.repeat(n)}1]` },
  { name: 'order terms', parse: parseOrderBy, text: n => ` ${'   \t'.repeat(n)}a` },
  { name: 'an attribute list', parse: parsePathList, text: n => `${' a . b ,'.repeat(n)}c` },
  { name: 'names without quotes', parse: parseParams, text: n => `[${'{name:1},'.repeat(n)}1]` },
  { name: 'names that are not closed', parse: parseParams, text: n => `[${'name '.repeat(n)}]` },
  { name: 'single quotes', parse: parseParams, text: n => `[${"'it\\'s',".repeat(n)}1]` },
  { name: 'single quotes in pairs', parse: parseParams, text: n => "''".repeat(n) },
  { name: 'long integers', parse: parseParams, text: n => `[${'12345678901234567,'.repeat(n)}1]` },
]

for (const { name, parse, text } of worst) {
  t.test(`${name} are read in linear time`, async t => {
    const read = (n: number) => {
      const whole = text(n)
      return cpuMicroseconds(() => {
        try {
          parse(whole)
        } catch {
          // The time of refusals counts too.
        }
      })
    }
    read(100)
    const few = Math.min(...Array.from({ length: 8 }, () => read(100)))
    const many = Math.min(...Array.from({ length: 3 }, () => read(900)))
    t.ok(many < 9 * 4 * few + 2_000, `${few} µs, ${many} µs for 9 times as much`)
  })
}
