import t from 'tap'
import { digitsOf, isSameNumber } from '../../../../engine/base/decimal-digits.ts'

const DIGITS: readonly (readonly [text: string, digits: string, places: number])[] = [
  ['12.50', '125', 1],
  ['-0012', '-12', 0],
  ['1200', '12', -2],
  ['.5', '5', 1],
  ['5.', '5', 0],
  ['1.5e-3', '15', 4],
  ['+15E2', '15', -2],
  ['-0.00', '0', Number.NEGATIVE_INFINITY],
]
for (const [text, digits, places] of DIGITS)
  t.test(text, async t => t.same(digitsOf(text), { digits, places }, 'digits without zeros at their ends'))

t.test('texts that are not finite numbers', async t => {
  for (const text of ['', '.', '-', 'NaN', 'Infinity', '1,5', '0x10', '1e']) t.equal(digitsOf(text), undefined, text)
})

t.test('the same number', async t => {
  t.ok(isSameNumber('1e21', '1000000000000000000000'))
  t.ok(isSameNumber('0', '-0.0'))
  t.notOk(isSameNumber('9007199254740993', '9007199254740992'))
  t.notOk(isSameNumber('1', '-1'))
  t.notOk(isSameNumber('NaN', 'NaN'), 'is a number')
  t.ok(isSameNumber(`1.${'0'.repeat(1_000_000)}`, '1'), 'any number of zeros')
})
