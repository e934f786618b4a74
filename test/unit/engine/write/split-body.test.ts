import t from 'tap'
import { EngineErrors } from '../../../../engine/base/engine-errors.ts'
import { outlineBody } from '../../../../engine/write/body/body-outline.ts'
import { openBody } from '../../../../engine/write/body/parse-body.ts'
import { parseParts, splitBody } from '../../../../engine/write/body/split-body.ts'
import {
  type BodyLimits,
  bodyLimits,
  SAVE_LIMITS,
  TRUSTED_BODY,
} from '../../../../engine/write/contract/write-limits.ts'
import { randomOf } from '../../../support/base/random.ts'
import { seedOf } from '../../../support/runner/rounds.ts'
import { openTestStore } from '../../../support/engine/test-store.ts'

const LIMITS: BodyLimits = { ...TRUSTED_BODY, values: 1_000_000, maxEntityBytes: 2 ** 20 }
const split = (text: string, limits = LIMITS) => {
  const body = Buffer.from(text)
  const parts = splitBody(body, limits, () => {})
  parseParts(body, parts.ranges, 0, () => {})
  return parts
}

t.test('the parts of a body have its elements, in their order', async t => {
  const { dataClass } = openTestStore(t)
  const big = 'x'.repeat(50_000)
  for (const elements of [
    [],
    [{}],
    [1, null, 'a,]}', [], [[1], { a: [{}] }]],
    Array.from({ length: 1_000 }, (_, i) => ({ name: `n${i}`, text: '\\"],[{é東' })),
    [{ big }, { a: 1 }, { big }, { big }],
  ]) {
    for (const [text, many] of [
      [JSON.stringify(elements), true],
      [JSON.stringify(elements, undefined, 2), true],
      [JSON.stringify({ __ENTITIES: elements }), true],
      [` {"x": {"__ENTITIES": [1]}, "__EN\\u0054ITIES" :\t${JSON.stringify(elements)} , "y": "]" }\n`, true],
      [`{"__ENTITIES":[1,2],"__ENTITIES":${JSON.stringify(elements)}}`, true],
    ] as const) {
      const parts = split(text)
      t.equal(parts.many, many)
      const body = openBody({ body: Buffer.from(text), parts }, dataClass('City'), undefined)
      t.equal(body.length, elements.length)
      const order = [...elements.keys(), ...[...elements.keys()].reverse()]
      for (const i of order) t.strictSame(body.element(i), elements[i])
    }
  }
  const single = split('{"name":"Oslo","__entities":[1,2]}')
  t.same([single.many, [...single.ranges]], [false, [0, 34, 1]])
})

for (const [what, text] of [
  ['an end in the middle', '[{"a":1},{"a":'],
  ['a comma at the end', '[{"a":1},]'],
  ['a comma at the beginning', '[,{"a":1}]'],
  ['a comma alone', '[,]'],
  ['two commas', '[{},,{}]'],
  ['a bracket that does not match', '[{"a":1],{"b":2}]'],
  ['brackets that match by number only', '[{"a":1},{"b":2}}'],
  ['brackets the other way round', '[}{]'],
  ['text after the end', '[{"a":1}] {"b":2}'],
  ['a blank that JSON does not have', '[{"a":1}]\v'],
  ['a fault in a late element', `[${'{"a":1},'.repeat(5_000)}{"a":01}]`],
  ['a fault before __ENTITIES', '{"a":01,"__ENTITIES":[{}]}'],
  ['a fault after __ENTITIES', '{"__ENTITIES":[{}],}'],
  ['no value', ''],
  ['a quote that does not close', '[{"a":"b}]'],
  ['a forbidden name', '[{"a":1},{"__proto__":{}}]'],
] as const) {
  t.test(`${what} is refused as a whole`, async t => {
    t.throws(() => split(text), { name: 'ENGINE.BAD_JSON', httpStatus: 400 })
  })
}

for (const text of ['1', '"x"', 'null', 'true', '{"__ENTITIES":{}}', '{"__ENTITIES":5,"a":[{}]}']) {
  t.test(`${text} is not a body of entities, or a single one`, async t => {
    const store = openTestStore(t)
    const refusal = store.refusal('City', text)
    t.match(refusal, { httpStatus: 400, entries: [{ errCode: 1806 }] })
    if (text.startsWith('{')) return
    t.throws(() => split(text), { name: 'WRITE.NOT_ENTITIES', httpStatus: 400 })
  })
}

t.test('the message of a fault has the range of entities that contains it', async t => {
  t.throws(() => split(`[${'{"a":1},'.repeat(1_000)}{"a":01}]`), { message: /\(entities 769 to 1001\)/ })
})

const bounds: [what: string, text: string, limits: Partial<BodyLimits>, error: string][] = [
  ['depth', '[{"a":[[1]]}]', { depth: 3 }, 'ENGINE.TOO_DEEP'],
  ['depth of a single one', '{"a":[[1]]}', { depth: 2 }, 'ENGINE.TOO_DEEP'],
  ['values', '[{"a":[1,2,3,4]}]', { values: 5 }, 'ENGINE.TOO_MANY_VALUES'],
  ['entities', '[1,2,3]', { maxEntities: 2 }, 'WRITE.TOO_MANY_ENTITIES'],
  ['entities by name', '{"__ENTITIES":[1,2,3]}', { maxEntities: 2 }, 'WRITE.TOO_MANY_ENTITIES'],
  ['names', '[{"a":1,"b":2,"c":3}]', { maxAttributes: 2 }, 'WRITE.TOO_MANY_ATTRIBUTES'],
  ['names of a later one', '[{"a":1},{"a":1,"b":2,"c":3}]', { maxAttributes: 2 }, 'WRITE.TOO_MANY_ATTRIBUTES'],
  ['names of a single one', '{"a":1,"b":2,"c":3}', { maxAttributes: 2 }, 'WRITE.TOO_MANY_ATTRIBUTES'],
  ['all names', '[{"a":{"b:c":{"d":1}}}]', { maxNames: 2 }, 'WRITE.TOO_MANY_NAMES'],
  ['all names of a later one', '[{"a":1},{"a":[{"b":1},{"c":2}]}]', { maxNames: 2 }, 'WRITE.TOO_MANY_NAMES'],
  ['all names of a single one', '{"a":{"b":1},"c":3}', { maxNames: 2 }, 'WRITE.TOO_MANY_NAMES'],
  ['all names by name', '{"__ENTITIES":[{"a":1},{"a":{"b":2,"c":3}}]}', { maxNames: 2 }, 'WRITE.TOO_MANY_NAMES'],
  ['bytes', '[{"a":"123"}]', { maxEntityBytes: 10 }, 'WRITE.ENTITY_TOO_LARGE'],
  ['bytes of a single one', '{"a":"123"}', { maxEntityBytes: 10 }, 'WRITE.ENTITY_TOO_LARGE'],
  ['bytes around', '{"a":"123","__ENTITIES":[1]}', { maxEntityBytes: 24 }, 'WRITE.ENTITY_TOO_LARGE'],
]
for (const [what, text, limits, name] of bounds) {
  t.test(`the bound of ${what} is exact`, async t => {
    t.throws(() => outlineBody(Buffer.from(text), { ...LIMITS, ...limits }), { name })
    const [key, bound] = Object.entries(limits)[0] as [keyof BodyLimits, number]
    outlineBody(Buffer.from(text), { ...LIMITS, [key]: bound + 1 })
  })
}

t.test('the names of all entities are bounded in one transaction only', async t => {
  const body = Buffer.from(`[${'{"a":{"b":1}},'.repeat(3)}{}]`)
  for (const request of [
    { atomic: true, mode: 'update' },
    { atomic: false, mode: 'validate' },
  ] as const) {
    const limits = (maxTransactionNames: number) => bodyLimits(request, { ...SAVE_LIMITS, maxTransactionNames })
    t.throws(() => outlineBody(body, limits(5)), { name: 'WRITE.TOO_MANY_NAMES_AT_ONCE', httpStatus: 413 })
    outlineBody(body, limits(6))
  }
  outlineBody(body, bodyLimits({ atomic: false, mode: 'update' }, { ...SAVE_LIMITS, maxTransactionNames: 1 }))
})

t.test('the caller can stop the work', async t => {
  let calls = 0
  const stop = (): void => {
    if (++calls === 5) throw EngineErrors.BAD_JSON('stopped')
  }
  const body = Buffer.from(`[${'{"a":1},'.repeat(1_000_000)}1]`)
  t.throws(() => splitBody(body, { ...LIMITS, values: 1e9 }, stop), { message: /stopped/ })
  t.equal(calls, 5)
})

t.test('bytes changed at random: a body is split if JSON.parse accepts it, with the same elements', async t => {
  const random = randomOf(seedOf(7))
  const { dataClass } = openTestStore(t)
  const seeds = [
    '[{"a":1,"b":[1,{"c":"d\\"e"}]},{"__KEY":"x"},3]',
    ' {"x":[1,{}],"__ENTITIES":[{"a":[]},{"b":{}}],"y":null}',
    '{"a":{"__ENTITIES":[1]},"b":"\\\\"}',
  ]
  const characters = '[]{},:"\\ 019aex_\n\v'
  let taken = 0
  for (let round = 0; round < 20_000; round++) {
    let text = seeds[round % seeds.length]!
    for (let changes = random.integer(0, 2); changes >= 0; changes--) {
      const at = random.integer(0, text.length - 1)
      const inserted = random.chance(0.3) ? '' : random.pick([...characters])
      text = text.slice(0, at) + inserted + text.slice(at + random.integer(0, 1))
    }
    const expected = parsed(text)
    const found = attempt(() => {
      const parts = split(text)
      const body = openBody({ body: Buffer.from(text), parts }, dataClass('City'), undefined)
      return { many: parts.many, elements: Array.from({ length: body.length }, (_, i) => body.element(i)) }
    })
    if (JSON.stringify(found) !== JSON.stringify(expected)) t.same(found, expected, JSON.stringify(text))
    if (found) taken++
  }
  t.ok(taken > 1_000, `${taken} of them were accepted`)
})

/** Elements by `JSON.parse`, for comparison. */
function parsed(text: string): { many: boolean; elements: unknown[] } | undefined {
  return attempt(() => {
    const json = JSON.parse(text) as unknown
    if (Array.isArray(json)) return { many: true, elements: json }
    if (typeof json !== 'object' || json === null) return undefined
    if (!Object.hasOwn(json, '__ENTITIES')) return { many: false, elements: [json] }
    const { __ENTITIES: elements } = json as { __ENTITIES: unknown }
    return Array.isArray(elements) ? { many: true, elements } : undefined
  })
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
