import t from 'tap'
import fc from '../../../support/runner/fast-check.ts'
import { memberTexts } from '../../../../engine/import/member-texts.ts'

t.test('members as they are written', async t => {
  const cases: [json: string, members: Record<string, string>][] = [
    ['{}', {}],
    ['{"a":1.10,"b":-0}', { a: '1.10', b: '-0' }],
    ['{ "a" : [1, {"b":2}] , "c" : {"a": "}"}\n}', { a: '[1, {"b":2}]', c: '{"a": "}"}' }],
    ['{"a":"x,\\"y\\\\","\\u0062":9007199254740993}', { a: '"x,\\"y\\\\"', b: '9007199254740993' }],
    ['{"a":1,"a":null,":":true}', { a: 'null', ':': 'true' }],
  ]
  for (const [json, members] of cases) t.strictSame(Object.fromEntries(memberTexts(json)), members, json)
})

t.test('the texts of the members of any object are their values', async t => {
  for (const [value, space] of fc.sample(fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(2)), 200)) {
    const members = [...memberTexts(JSON.stringify(value, null, space))]
    t.same(Object.fromEntries(members.map(([name, text]) => [name, JSON.parse(text)])), value)
  }
})
