import t from 'tap'
import { checkJsonBounds } from '../../../../engine/base/json-bounds.ts'

const check = (json: string, depth: number, values: number) => () =>
  checkJsonBounds(new TextEncoder().encode(json), { depth, values })

t.test('a body within the bounds passes', async t => {
  t.doesNotThrow(check('[[1],[2]]', 2, 5))
  t.doesNotThrow(check('{"a":{"b":[]}}', 3, 3))
  t.doesNotThrow(check('"[[[[,,,,"', 1, 1), 'brackets and commas in a text do not count')
  t.doesNotThrow(check('["\\"[[[","\\\\",[1]]', 2, 5), 'nor after an escaped quote')
  t.doesNotThrow(check('["unfinished', 2, 5), 'invalid JSON is left to the parser')
})

t.test('a body beyond a bound is refused, and the message names the bound', async t => {
  t.throws(check('[[[1]]]', 2, 100), { name: 'ENGINE.TOO_DEEP', httpStatus: 400, message: /2 levels/ })
  t.throws(check('[1,2,3,4,5,6]', 2, 5), { name: 'ENGINE.TOO_MANY_VALUES', httpStatus: 400, message: /5 values/ })
  t.throws(check('{"a":["\\\\"],"b":[[]]}', 2, 100), { name: 'ENGINE.TOO_DEEP' })
})
