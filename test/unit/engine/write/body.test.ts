import t from 'tap'
import { codesOf, openTestStore } from '../../../support/engine/test-store.ts'

t.test('a body is an object, an array or {"__ENTITIES"}', async t => {
  const store = openTestStore(t)
  t.match(store.save('City', { name: 'a' }), { many: false, entities: [{ rowId: 0 }] })
  t.match(store.save('City', [{ name: 'b' }]), { many: true, entities: [{ rowId: 1 }] })
  t.match(store.save('City', { __ENTITIES: [{ name: 'c' }] }), { many: true, entities: [{ rowId: 2 }] })
  t.match(store.save('City', []), { many: true, entities: [] })
})

for (const [what, body] of [
  ['cut JSON', '{"name":'],
  ['text that is not JSON', 'name=Paris'],
  ['nothing', ''],
  ['a number', '1'],
  ['null', 'null'],
  ['__ENTITIES that is not an array', '{"__ENTITIES":{}}'],
  ['a forbidden name', '{"name":"x","__proto__":{"a":1}}'],
  ['a forbidden name inside', '{"extra":{"constructor":{"prototype":{}}}}'],
] as const) {
  t.test(`${what} is refused with 400`, async t => {
    const store = openTestStore(t)
    t.match(store.refusal('Person', body), { httpStatus: 400, entries: [{ errCode: 1806 }] })
  })
}

t.test('bytes that are not UTF-8 are refused', async t => {
  const store = openTestStore(t)
  const [answer] = store.writer.run([
    { kind: 'save', dataClass: 'City', body: Buffer.from([0x7b, 0xff, 0x7d]), mode: 'update', atomic: false },
  ])
  t.match(answer, { httpStatus: 400, entries: [{ errCode: 1806, message: /UTF-8/ }] })
})

t.test('elements that are not objects fail individually', async t => {
  const store = openTestStore(t)
  const { entities } = store.save('City', [1, null, 'x', [], { name: 'Oslo' }])
  t.same(
    entities.map(entity => codesOf(entity.failure?.error)),
    [...Array(4).fill([1806, 1534]), []],
  )
})

t.test('an unknown or private dataclass is not found', async t => {
  const store = openTestStore(t)
  t.match(store.refusal('Compnay', {}), { httpStatus: 404, entries: [{ errCode: 1800, message: /Company/ }] })
})

const MAX = '9223372036854775807'
const cases: [attribute: string, json: string, stored: unknown][] = [
  ['name', '"É\\u0000\\ud800"', 'É\u0000\ud800'],
  ['age', '"12"', 12],
  ['age', '-0', 0],
  ['rank', '-32768', -32768],
  ['rank', '3.0', 3],
  ['height', '"1.5e2"', 150],
  ['height', '" .5 "', 0.5],
  ['big', '9007199254740993', '9007199254740993'],
  ['big', MAX, MAX],
  ['big', `"-${MAX}"`, `-${MAX}`],
  ['big', '" 12 "', 12],
  ['big', '9007199254740993.0', '9007199254740993'],
  ['big', '-9.007199254740993e15', '-9007199254740993'],
  ['big', '0.09007199254740993e+17', '9007199254740993'],
  ['big', '1.50e1', 15],
  ['age', '10000000000000000000000e-20', 100],
  ['height', '0e-999', 0],
  ['height', '5e-324', 5e-324],
  ['height', '1.0000000000000000001', 1],
  ['extra', '{"n":[1.0000000000000000001]}', { n: [1] }],
  ['active', '1', true],
  ['active', 'false', false],
  ['born', '"31!1!2020"', '2020-01-31'],
  ['born', '"2020-01-31T23:59:00-05:00"', '2020-01-31'],
  ['seen', '"2020-01-31T10:00:00+02:00"', '2020-01-31T08:00:00.000Z'],
  ['seen', '"2020-01-31"', '2020-01-31T00:00:00.000Z'],
  ['lap', '1500', 1500],
  ['lap', '"1500"', 1500],
  ['lap', '"01:02:03"', 3_723_000],
  ['lap', '"-00:01:00"', -60_000],
  ['tag', '"0123456789abcdef0123456789abcdef"', '0123456789ABCDEF0123456789ABCDEF'],
  ['tag', '"01234567-89ab-cdef-0123-456789abcdef"', '0123456789ABCDEF0123456789ABCDEF'],
  ['extra', '{"a":[1,{"b":null}],"toString":1}', { a: [1, { b: null }], toString: 1 }],
  ['extra', '[]', []],
  ['extra', '{"big":12345678901234567}', { big: 12345678901234568 }],
  ['height', '12345678901234567', 12345678901234568],
]
for (const [attribute, json, stored] of cases) {
  t.test(`${attribute} takes ${json}`, async t => {
    const store = openTestStore(t)
    const { codes, entity } = store.one('Person', `{"${attribute}":${json}}`)
    t.same(codes, [])
    if (attribute === 'big' && typeof stored === 'string') {
      const [row] = [...store.environment.rows.getRange()]
      t.match(row!.value.toString(), new RegExp(`"big":${stored}[,}]`))
    } else t.strictSame(entity[attribute], stored)
    t.same(store.problems(), [])
  })
}

const refused: [attribute: string, json: string][] = [
  ['name', '1'],
  ['name', '{"__deferred":{}}'],
  ['age', '1.5'],
  ['age', '128'],
  ['age', '1.0000000000000000001'],
  ['age', '"1.0000000000000000001"'],
  ['age', '1e-400'],
  ['age', '"1e-400"'],
  ['rank', '0.99999999999999999'],
  ['age', '"0x10"'],
  ['age', '""'],
  ['age', 'true'],
  ['rank', '32768'],
  ['big', '9223372036854775808'],
  ['big', '1.5'],
  ['big', '1.0000000000000000001'],
  ['big', '9007199254740991.4'],
  ['big', '9007199254740993.5'],
  ['big', '90071992547409935e-1'],
  ['big', '1e-400'],
  ['big', '"1e3"'],
  ['big', '"x5"'],
  ['big', `"5${' '.repeat(120)}x"`],
  ['height', '"much"'],
  ['height', '1e999'],
  ['height', '1e-400'],
  ['height', '"1e-400"'],
  ['height', `-0.${'0'.repeat(400)}1`],
  ['height', '"Infinity"'],
  ['lap', '1e-400'],
  ['name', '1e-400'],
  ['active', '2'],
  ['active', '"true"'],
  ['born', '"2020-02-30"'],
  ['born', '20200131'],
  ['lap', '"later"'],
  ['tag', '"xyz"'],
  ['extra', '"text"'],
  ['extra', '1'],
  ['extra', '{"n":[{"deep":-1e-400}]}'],
  ['extra', '['.repeat(101) + ']'.repeat(101)],
  ['photo', '1'],
  ['cv', '"data:,x"'],
]
for (const [attribute, json] of refused) {
  t.test(`${attribute} refuses ${json.slice(0, 30)}`, async t => {
    const store = openTestStore(t)
    const answer = store.one('Person', `{"${attribute}":${json}}`)
    t.match(answer, { codes: [1508, 1534], httpStatus: 422 })
    t.ok(answer.messages[0]!.startsWith(`${attribute} cannot be `), String(answer.messages[0]))
  })
}

for (const [attribute, json, received] of [
  ['height', '-1e400', '-1e400'],
  ['height', '1e-400', '1e-400'],
  ['height', '"1e-400"', '"1e-400"'],
  ['age', '1.0000000000000000001', '1.0000000000000000001'],
  ['name', '1e400', '1e400'],
  ['extra', '{"a":[1,{"b":1e400}]}', 'JSON with the number 1e400'],
] as const) {
  t.test(`the message has ${json} as it was received`, async t => {
    const [message] = openTestStore(t).one('Person', `{"${attribute}":${json}}`).messages
    t.ok(message!.startsWith(`${attribute} cannot be ${received}; `), String(message))
  })
}

t.test('only integers of long64 attributes are read exactly, whatever quotes are in the texts around them', async t => {
  const store = openTestStore(t)
  const text = '\\"big\\": 9007199254740993 \\\\'
  const { entity } = store.one('Person', `{"name":"${text}","extra":{"n":9007199254740993},"big":-9007199254740993}`)
  t.equal(entity.name, JSON.parse(`"${text}"`))
  t.equal(entity.extra.n, 9007199254740992)
  const [row] = [...store.environment.rows.getRange()]
  t.match(row!.value.toString(), /"big":-9007199254740993,/)
})

const LARGE = '9007199254740993'
const chained = {
  name: 'chained',
  dataClasses: {
    Link: {
      key: 'ID',
      attributes: {
        ID: { type: 'long64' },
        count: { type: 'long64' },
        total: { kind: 'alias', path: 'count' },
        nextID: { type: 'long64' },
        next: { kind: 'relatedEntity', type: 'Link', foreignKey: 'nextID' },
        name: { type: 'string' },
      },
    },
  },
}
for (const [what, json, stored] of [
  ['an alias', `{"__KEY":"${LARGE}","__STAMP":1,"total":${LARGE}}`, /"count":9007199254740993[,}]/],
  ['a key', `{"__KEY":${LARGE},"__STAMP":1,"name":"x"}`, /"name":"x"/],
  ['a link', `{"__KEY":"${LARGE}","__STAMP":1,"next":${LARGE}}`, /"nextID":9007199254740993[,}]/],
  ['a link with __KEY', `{"__KEY":"${LARGE}","__STAMP":1,"next":{"__KEY":${LARGE}}}`, /"nextID":9007199254740993[,}]/],
] as const) {
  t.test(`an integer beyond 2^53 is read exactly: ${what}`, async t => {
    const store = openTestStore(t, { model: chained })
    store.save('Link', `[{"ID":${LARGE}},{"ID":"9007199254740992"}]`)
    t.equal(store.save('Link', json).entities[0]!.failure, undefined)
    const [row, other] = [...store.environment.rows.getRange()].map(({ value }) => value.toString())
    t.match(row, stored)
    t.notMatch(other, stored)
  })
}
