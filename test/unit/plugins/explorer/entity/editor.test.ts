import t from 'tap'
import fc from '../../../../support/fast-check.ts'
import {
  durationText,
  editable,
  editorOf,
  type Input,
  inputOf,
  read,
  violationOf,
} from '../../../../../plugins/explorer/page/entity/editor.ts'
import { jsonFaultAt } from '../../../../../plugins/explorer/page/entity/json-fault.ts'
import type { Attribute, DataClass } from '../../../../../plugins/explorer/page/base/model.ts'

const of = (type: string, others: Partial<Attribute> = {}): Attribute => ({
  name: 'a',
  kind: 'storage',
  type,
  ...others,
})
const json = (attribute: Attribute, input: Input): unknown => {
  const result = read(attribute, input)
  return 'json' in result ? result.json : result.fault.code
}

t.test('fields by type', async t => {
  t.equal(editorOf(of('string'), false), 'text')
  t.equal(editorOf(of('string', { multiLine: true }), false), 'lines')
  t.equal(editorOf(of('object', { dimension: 3 }), false), 'vector')
  t.equal(editorOf(of('date', { simpleDate: true }), false), 'date')
  t.equal(editorOf(of('date', { simpleDate: false }), false), 'time')
  t.equal(editorOf(of('string', { identifying: true }), false), undefined, 'a key cannot change')
  t.equal(editorOf(of('string', { identifying: true }), true), 'text')
  t.equal(editorOf(of('long', { identifying: true, autosequence: true }), true), undefined)
  t.equal(editorOf(of('string', { kind: 'calculated', readOnly: true }), true), undefined)
  t.equal(editorOf(of('string', { kind: 'calculated' }), true), 'text', 'code accepts values')
})

t.test('a foreign key is edited by its relation', async t => {
  const dataClass: DataClass = {
    name: 'City',
    collectionName: 'CitySelection',
    key: [{ name: 'ID' }],
    attributes: [
      { ...of('string'), name: 'countryCode' },
      { name: 'country', kind: 'relatedEntity', type: 'Country', foreignKey: 'countryCode' },
    ],
  }
  t.same(
    editable(dataClass, false).map(({ name }) => name),
    ['country'],
  )
})

t.test('input is sent as a value of its type', async t => {
  const cases: readonly [Attribute, Input, unknown][] = [
    [of('string'), ' a ', ' a '],
    [of('string'), null, null],
    [of('long'), '12', 12],
    [of('long'), '-7 ', -7],
    [of('long'), '1.5', 'integer'],
    [of('long'), 'x', 'number'],
    [of('long64'), '9007199254740993', '9007199254740993'],
    [of('number'), '1,5', 1.5],
    [of('number'), '2.5e-1', '2.5e-1'],
    [of('number', { scale: 2 }), '12.50', '12.50'],
    [of('bool'), false, false],
    [of('duration'), '8:30', 30_600_000],
    [of('duration'), '-0:00:01.5', -1_500],
    [of('duration'), '250', 250],
    [of('duration'), 'long', 'duration'],
    [of('duration'), '8:75', 'duration'],
    [of('date', { simpleDate: true }), '2020-01-31', '2020-01-31'],
    [of('date', { simpleDate: true }), 'soon', 'date'],
    [of('date'), '2020-01-31T13:23:00.000Z', '2020-01-31T13:23:00.000Z'],
    [of('date'), '2020-01-31 13:23+02', '2020-01-31 13:23+02'],
    [of('date'), '2020-01-31', '2020-01-31'],
    [of('date'), '2020-01-31 8:23:00,5', new Date(2020, 0, 31, 8, 23, 0, 500).toISOString()],
    [of('date'), '2020-02-30T13:23', 'date'],
    [of('date'), '12/06/17', 'date'],
    [of('date'), '2020-01-31T13:23+2', 'date'],
    [of('object'), '{"a":[1]}', { a: [1] }],
    [of('object'), '{"a":', 'json'],
    [of('object', { dimension: 2 }), '[1,2]', [1, 2]],
    [of('object', { dimension: 2 }), '[1]', 'vector'],
    [{ name: 'r', kind: 'relatedEntity', type: 'Country' }, 'FR', { __KEY: 'FR' }],
  ]
  for (const [attribute, input, expected] of cases)
    t.same(json(attribute, input), expected, `${attribute.type} ${input}`)
})

t.test('the position of a fault in JSON', async t => {
  const result = read(of('object'), '{\n "a": x\n}')
  t.match(result, { fault: { code: 'json', at: 8 } })
  t.match(read(of('object'), '{"a":'), { fault: { at: 5 } })
  const cases: readonly [string, number | undefined][] = [
    ['', 0],
    ['[1,2', 4],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['{"a":1,}', 7],
    ['01', 1],
    ['"\n"', 0],
    ['[] []', 3],
    [' {"a":[{}, [], "x\\u0041", -1.5e3, null]} ', undefined],
  ]
  for (const [text, at] of cases) t.equal(jsonFaultAt(text), at, text)
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const mutated = fc.tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ':', '1', '\\', ' '))
  fc.assert(
    fc.property(mutated, ([value, place, sign]) => {
      const text = JSON.stringify(value)
      const at = place % (text.length + 1)
      const changed = text.slice(0, at) + sign + text.slice(at + 1)
      if ((jsonFaultAt(changed) === undefined) !== isJson(changed)) t.fail(changed)
    }),
    { numRuns: 2_000 },
  )
})

t.test('stored values survive a round trip through the fields', async t => {
  const local = of('date')
  t.same(json(local, inputOf(local, '2020-01-31T13:23:00.120Z')), '2020-01-31T13:23:00.120Z')
  const day = of('date', { simpleDate: true })
  t.equal(inputOf(day, '31!1!2020'), '2020-01-31')
  t.equal(inputOf({ name: 'r', kind: 'relatedEntity', type: 'C' }, { __deferred: { __KEY: 'FR' } }), 'FR')
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), value => {
      t.equal(json(of('duration'), durationText(value)) as number, value)
    }),
  )
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      if (value === null) return
      t.same(json(of('object'), inputOf(of('object'), value)), JSON.parse(JSON.stringify(value)))
    }),
  )
})

t.test('rules of the catalog', async t => {
  t.match(violationOf(of('string', { mandatory: true }), null), { rule: 'mandatory' })
  t.equal(violationOf(of('string'), null), undefined)
  t.match(violationOf(of('string', { maxLength: 2 }), 'abc'), { rule: 'maxLength', bound: 2 })
  t.match(violationOf(of('string', { minLength: 2 }), 'a'), { rule: 'minLength' })
  t.match(violationOf(of('string', { pattern: '^[A-Z]+$' }), 'a'), { rule: 'pattern' })
  t.equal(violationOf(of('string', { pattern: '(' }), 'a'), undefined, 'a pattern that cannot be read')
  t.match(violationOf(of('long64', { maxValue: 5 }), '6'), { rule: 'maxValue' })
  t.match(violationOf(of('number', { minValue: 0 }), -1), { rule: 'minValue' })
})
