import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import { durationText, readDuration } from '../../../../../plugins/explorer/page/base/durations.ts'
import {
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

t.test('input is sent as JSON of its type', async t => {
  const cases: readonly [Attribute, Input, string][] = [
    [of('string'), ' a ', '" a "'],
    [of('string'), null, 'null'],
    [of('string'), '', '""'],
    [of('string'), '\ud800\0', '"\\ud800\\u0000"'],
    [of('long'), '12', '12'],
    [of('long'), '-7 ', '-7'],
    [of('long'), '1.5', 'integer'],
    [of('long'), '1.0', '"1.0"'],
    [of('long'), '1.000', 'integer'],
    [of('long'), '1,000', 'number'],
    [of('long'), 'x', 'number'],
    [of('long64'), '9007199254740993', '"9007199254740993"'],
    [of('number'), '1,5', '1.5'],
    [of('number'), '1,234', 'number'],
    [of('number'), '0,234', '0.234'],
    [of('number'), '1,234,567', 'number'],
    [of('number'), '2.5e-1', '"2.5e-1"'],
    [of('number'), '1e+21', '1e+21'],
    [of('number'), '-0', '"-0"'],
    [of('number', { scale: 2 }), '12.50', '"12.50"'],
    [of('bool'), false, 'false'],
    [of('duration'), '8:30', '30600000'],
    [of('duration'), '-0:00:01.5', '-1500'],
    [of('duration'), '0:00:00.0000005', '0.0005'],
    [of('duration'), '250', '250'],
    [of('duration'), '1:75', 'duration'],
    [of('duration'), 'long', 'duration'],
    [of('duration'), '8:75', 'duration'],
    [of('date', { simpleDate: true }), '2020-01-31', '"2020-01-31"'],
    [of('date', { simpleDate: true }), '-000044-03-15', '"-000044-03-15"'],
    [of('date', { simpleDate: true }), '', 'date'],
    [of('date', { simpleDate: true }), 'soon', 'date'],
    [of('date'), '2020-01-31T13:23:00.000Z', '"2020-01-31T13:23:00.000Z"'],
    [of('date'), '2020-01-31T13:23:00.123456Z', '"2020-01-31T13:23:00.123456Z"'],
    [of('date'), '1/2/2020', 'date'],
    [of('date'), '12', 'date'],
    [of('date'), '12/06/17', 'date'],
    [of('date'), '2020-02-30T13:23', 'date'],
    [of('date'), '2020-01-31T13:23+2', 'date'],
    [of('object'), '{"a":[1.0, 12345678901234567890]}', '{"a":[1.0, 12345678901234567890]}'],
    [of('object'), '{"a":"\ud800"}', '{"a":"\\ud800"}'],
    [of('object'), '{"a":', 'json'],
    [of('object', { dimension: 2 }), '[1,2.50]', '[1,2.50]'],
    [of('object', { dimension: 2 }), '[1]', 'vector'],
    [{ name: 'r', kind: 'relatedEntity', type: 'Country' }, ' F"R', '{"__KEY":" F\\"R"}'],
  ]
  for (const [attribute, input, expected] of cases)
    t.equal(json(attribute, input), expected, `${attribute.type} ${input}`)
  t.same(read(of('number'), '1,234', ','), { json: '1.234' }, 'in a language with decimal commas')
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
  const day = of('date', { simpleDate: true })
  const relation: Attribute = { name: 'r', kind: 'relatedEntity', type: 'C' }
  const cases: readonly [Attribute, string, Input][] = [
    [of('date'), '"2020-01-31T13:23:00.120Z"', '2020-01-31T13:23:00.120Z'],
    [day, '"31!1!2020"', '2020-01-31'],
    [day, '"-000044-03-15"', '-000044-03-15'],
    [day, '"15!3!-44"', '15!3!-44'],
    [day, '"0000-01-01"', '0000-01-01'],
    [relation, '{"__deferred":{"__KEY":"FR"}}', 'FR'],
    [of('number', { scale: 2 }), '12.50', '12.50'],
    [of('long64'), '9223372036854775807', '9223372036854775807'],
    [of('string', { scale: 2 }), '"12.50"', '12.50'],
    [of('bool'), 'false', false],
    [
      of('object'),
      '{"1":[],"b":{"b":1.0,"b":1e2},"0":{}}',
      '{\n  "1": [],\n  "b": {\n    "b": 1.0,\n    "b": 1e2\n  },\n  "0": {}\n}',
    ],
  ]
  for (const [attribute, stored, input] of cases) t.equal(inputOf(attribute, stored), input, stored)
  fc.assert(
    fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), value => {
      const text = durationText(value)
      t.equal(Number(readDuration(text) ?? text), value === 0 ? 0 : value)
    }),
  )
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      if (value === null) return
      t.equal(inputOf(of('object'), JSON.stringify(value)), JSON.stringify(value, null, 2))
    }),
  )
})

t.test('rules of the catalog', async t => {
  t.match(violationOf(of('string', { mandatory: true }), 'null'), { rule: 'mandatory' })
  t.equal(violationOf(of('string'), 'null'), undefined)
  t.match(violationOf(of('string', { maxLength: 2 }), '"abc"'), { rule: 'maxLength', bound: 2 })
  t.match(violationOf(of('string', { minLength: 2 }), '"a"'), { rule: 'minLength' })
  t.match(violationOf(of('string', { pattern: '^[A-Z]+$' }), '"a"'), { rule: 'pattern' })
  t.equal(violationOf(of('string', { pattern: '(' }), '"a"'), undefined, 'a pattern that cannot be read')
  t.match(violationOf(of('long64', { maxValue: 5 }), '"6"'), { rule: 'maxValue' })
  t.match(violationOf(of('number', { minValue: 0 }), '-1'), { rule: 'minValue' })
})

t.test('an attribute with choices', async t => {
  const mood: Attribute = { name: 'mood', kind: 'storage', type: 'string', choices: ['sad', 'happy'], maxLength: 1000 }
  t.equal(editorOf(mood, true), 'choice')
  t.equal(inputOf(mood, '"sad"'), 'sad')
  t.equal(inputOf(mood, 'null'), null)
  t.same(read(mood, 'happy'), { json: '"happy"' })
  t.same(read(mood, null), { json: 'null' })
  t.equal(editorOf({ ...mood, readOnly: true }, true), undefined)
})
