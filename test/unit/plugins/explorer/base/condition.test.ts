import t from 'tap'
import {
  conditionOn,
  addCondition,
  narrowedByOther,
  quote,
} from '../../../../../plugins/explorer/page/base/condition.ts'
import type { Attribute } from '../../../../../plugins/explorer/page/base/model.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'
import fc from '../../../../support/runner/fast-check.ts'

const attribute = (type: string, more: Partial<Attribute> = {}): Attribute => ({
  name: 'a',
  kind: 'storage',
  type,
  ...more,
})

t.test('values as conditions', async t => {
  t.equal(conditionOn('a', attribute('string'), 'x y'), 'a = "x y"')
  t.equal(conditionOn('a', attribute('string'), 'me@home'), 'a === "me@home"')
  t.equal(conditionOn('a', attribute('string'), 'me@home', '!='), 'a !== "me@home"')
  t.equal(conditionOn('a', attribute('string'), ''), 'a = ""')
  t.equal(conditionOn('a', attribute('string'), null), 'a = null')
  t.equal(conditionOn('b.a', attribute('number'), -1.5), 'b.a = -1.5')
  t.equal(conditionOn('a', attribute('bool'), false), 'a = false')
  t.equal(conditionOn('a', attribute('date'), '2008-03-07'), 'a = "2008-03-07"')
  t.equal(conditionOn('country', attribute('Country', { kind: 'relatedEntity' }), 'FR'), 'country.__KEY = "FR"')
  t.equal(conditionOn('a', attribute('object'), { b: 1 }), undefined)
  t.equal(conditionOn('a', attribute('object', { dimension: 2 }), [1, 2]), undefined)
  t.equal(conditionOn('a', attribute('string'), 'x'.repeat(501)), undefined)
  const score = attribute('number', { name: '__SCORE', kind: 'calculated' })
  for (const value of [0.5819, null]) {
    t.equal(conditionOn('__SCORE', score, value), undefined)
    t.equal(narrowedByOther('', '__SCORE', score, value), undefined)
  }
})

t.test('a quoted text is parsed as that text', async () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '@', "'", '"', '\\', 'ß', ')', '%') }), text => {
      const { condition } = parseQuery(`a === ${quote(text)}`)
      t.match(condition, { value: { kind: 'literal', text, quoted: true } })
    }),
  )
})

t.test('narrowed filters', async t => {
  t.equal(addCondition('', 'b = 2'), 'b = 2')
  t.equal(addCondition(' a = 1 ', 'b = 2'), 'a = 1 and b = 2')
  t.equal(addCondition('a = 1 or c = 3', 'b = 2'), '(a = 1 or c = 3) and b = 2')
  t.equal(addCondition('(a = 1 or c = 3) and d', 'b = 2'), '(a = 1 or c = 3) and d and b = 2')
  t.equal(addCondition('a = "x or y" order by c desc', 'b = 2'), 'a = "x or y" and b = 2 order by c desc')
  t.equal(addCondition('order by c', 'b = 2'), 'b = 2 order by c')
})

t.test('filters without a value keep null', async t => {
  const text = attribute('string')
  t.equal(narrowedByOther('', 'a', text, 'x'), 'a != "x" or a = null')
  t.equal(narrowedByOther('', 'a', attribute('string', { mandatory: true }), 'x'), 'a != "x"')
  t.equal(narrowedByOther('', 'a', text, null), 'a != null')
  t.equal(narrowedByOther('b = 1 order by c', 'a', text, 'x'), 'b = 1 except a = "x" order by c')
  t.equal(narrowedByOther('b = 1', 'a', attribute('object'), {}), undefined)
})
