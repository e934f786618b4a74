import t from 'tap'
import { type Params, parseParams } from '../../../../../engine/query/parse/parse-params.ts'
import { parseRelaxedJson } from '../../../../../engine/query/parse/relaxed-json.ts'

const entries = ({ positional, named, attributes }: Params) => ({
  positional,
  named: Object.fromEntries(named),
  attributes: Object.fromEntries(attributes),
})
const nothing = { positional: [], named: {}, attributes: {} }

const cases: { name: string; text: string; is: Partial<ReturnType<typeof entries>> }[] = [
  {
    name: 'an array has values by position',
    text: '["john",20000,[1],null]',
    is: { positional: ['john', 20000, [1], null] },
  },
  { name: 'an object has values by name', text: '{"p":1,"q":{"r":2}}', is: { named: { p: 1, q: { r: 2 } } } },
  { name: 'settings have parameters', text: '{"parameters":{"p":1}}', is: { named: { p: 1 } } },
  {
    name: 'settings have attributes',
    text: '{"parameters":{"p":1},"attributes":{"a":"x.y"}}',
    is: { named: { p: 1 }, attributes: { a: 'x.y' } },
  },
  { name: 'settings may have positions', text: '{"parameters":[1]}', is: { positional: [1] } },
  { name: 'another key makes it plain names', text: '{"parameters":1,"p":2}', is: { named: { parameters: 1, p: 2 } } },
  { name: 'any other value is the only one', text: '42', is: { positional: [42] } },
  { name: 'an empty text has no values', text: ' ', is: {} },
  {
    name: 'names may be unquoted',
    text: '[{vector:[1,-2.5e+3], threshold : 1}]',
    is: { positional: [{ vector: [1, -2500], threshold: 1 }] },
  },
  { name: 'names may be of any script', text: '{größe_1:true}', is: { named: { größe_1: true } } },
  {
    name: 'texts may be in single quotes',
    text: `['it\\'s "x"', "don't: 'y'"]`,
    is: { positional: [`it's "x"`, "don't: 'y'"] },
  },
]

for (const { name, text, is } of cases) {
  t.test(`notes 1.3: ${name}`, async t => {
    t.strictSame(entries(parseParams(text)), { ...nothing, ...is })
  })
}

const failures = [
  '[1,',
  '[john]',
  "'abc",
  '["a"',
  "['a]",
  '{a:}',
  '[1,]',
  '[{"__proto__":{"x":1}}]',
  '[{__proto__:{x:1}}]',
  '[{"constructor":{"prototype":{"x":1}}}]',
  '['.repeat(65) + ']'.repeat(65),
  '['.repeat(60_000),
  "'".repeat(60_001),
]

for (const text of failures) {
  t.test(`the parameters ${text.slice(0, 40)} are refused with 1806`, async t => {
    t.throws(() => parseParams(text), { httpStatus: 400, entries: [{ errCode: 1806 }], message: /send a JSON array/ })
  })
}

t.test('64 levels are allowed', async t => {
  t.ok(parseRelaxedJson('['.repeat(64) + ']'.repeat(64)))
})
