import t from 'tap'
import { parseExact } from '../../../../engine/base/exact-json.ts'
import { parseJson } from '../../../../engine/base/json-body.ts'
import { readJson } from '../../../../engine/base/read-json.ts'

const NAMES = ['"', '\n', '\t', '\u0000', '\\', 'a"', 'a\\', '\\"', '"\\', '\\\\', 'é', '1', '__x', '']
/** Values whose texts have escapes, quotes and colons. */
const VALUES = [1, 'a\\": b', '\\', '":', null]

/** JSON.stringify writes all names correctly; JSON.parse of some versions of Node.js does not read them. */
t.test('names are read as they are written, whatever was read before', t => {
  for (const read of [readJson, parseJson, parseExact])
    for (const before of ['\\', '\\\\', 'a\\'])
      for (const name of NAMES)
        for (const value of VALUES) {
          for (const other of [{}, { h: [] }]) {
            read(JSON.stringify({ ...other, [before]: 0 }))
            const object = { ...other, [name]: value }
            const { h, ...rest } = object as Record<string, unknown>
            for (const indent of [0, 1])
              t.strictSame(read(JSON.stringify([object, { h, inner: [rest] }], null, indent)), [
                object,
                { ...(h !== undefined && { h }), inner: [rest] },
              ])
          }
        }
  t.end()
})

t.test('of several members with one name the last counts, numbers are first, and digits are kept', t => {
  const text = '{"b":{},"\\u0031":5,"1":6,"\\"":12345678901234567890,"a\\n" :1,"a\\u000a": "x\\n"}'
  t.strictSame(
    JSON.stringify(readJson('{"b":{},"\\u0031":5,"1":6,"a\\n" :1,"a\\u000a": "x\\n"}')),
    '{"1":6,"b":{},"a\\n":"x\\n"}',
  )
  t.strictSame(parseExact(text), { 1: 6, b: {}, '"': 12_345_678_901_234_567_890n, 'a\n': 'x\n' })
  t.end()
})

t.test('what is refused otherwise is refused with escaped names', t => {
  for (const text of ['{"\\"":{"__proto__":1}}', '{"\\u005f_proto__":{"\\"":1}}']) {
    t.throws(() => parseExact(text), SyntaxError)
    t.throws(() => parseJson(text))
  }
  t.throws(() => readJson('{"\\"":1'), SyntaxError)
  t.end()
})
