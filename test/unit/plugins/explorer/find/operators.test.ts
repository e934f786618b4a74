import t from 'tap'
import type { Attribute } from '../../../../../plugins/explorer/page/base/model.ts'
import { textOf, treeOf } from '../../../../../plugins/explorer/page/find/filter-tree.ts'
import {
  conditionWith,
  operandOf,
  type Operator,
  operatorOf,
  operatorsFor,
  type Simple,
} from '../../../../../plugins/explorer/page/find/operators.ts'

const attribute = (type: string, more: Partial<Attribute> = {}): Attribute => ({
  name: 'a',
  kind: 'storage',
  type,
  ...more,
})
const written = (condition: Simple): string =>
  textOf({ terms: [{ conjunction: 'and', isNegated: false, condition }], order: [] })

t.test('every operator of every type is read back as it was written', async t => {
  const types = ['string', 'uuid', 'long', 'number', 'decimal', 'date', 'duration', 'bool', 'object']
  for (const each of types.map(type => attribute(type))) {
    for (const operator of operatorsFor(each)) {
      for (const operand of ['', '12', 'x y', 'true', '2020-01-31']) {
        const text = written(conditionWith('a', each, operator, operand))
        const read = treeOf(text)?.terms[0]?.condition as Simple
        t.equal(operatorOf(read), operator, text)
        const hasOperand = operator !== 'null' && operator !== 'notNull' && operator !== 'truth'
        if (hasOperand) t.equal(operandOf(read), operand, text)
      }
    }
  }
})

t.test('texts of conditions', async t => {
  const text = (type: string, operator: Operator, operand: string) =>
    written(conditionWith('a', attribute(type), operator, operand))
  t.equal(text('string', 'contains', 'x@y'), 'a = "@xy@"')
  t.equal(text('string', '=', '12'), 'a = "12"')
  t.equal(text('long', '>=', '12'), 'a >= 12')
  t.equal(text('object', '=', '12'), 'a = 12')
  t.equal(text('object', '=', 'x'), 'a = "x"')
  t.equal(text('bool', 'truth', ''), 'a')
  t.equal(text('long', 'in', '1, 2,'), 'a in [1, 2]')
  t.equal(text('string', 'in', 'x, "y, z"'), 'a in ["x", "y, z"]')
  t.equal(operandOf(conditionWith('a', attribute('string'), 'in', 'x, "y, z"')), 'x, "y, z"')
  t.strictSame(operatorsFor(attribute('Country', { kind: 'relatedEntity' })), ['null', 'notNull'])
})
