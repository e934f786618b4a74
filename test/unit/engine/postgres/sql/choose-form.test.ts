/** Which columns attributes can have, and how their values are read and written. */
import t from 'tap'
import type { StorageAttribute } from '../../../../../engine/catalog/attribute.ts'
import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import type { Value } from '../../../../../engine/catalog/value.ts'
import type { RemoteColumn } from '../../../../../engine/postgres/sql/remote-table.ts'
import { columnForm } from '../../../../../engine/postgres/sql/choose-form.ts'
import { Unfit } from '../../../../../engine/postgres/sql/unfit.ts'
import { modelWith } from '../../../../support/fixtures/model-with.ts'

type AttributeOptions = { readonly type: string } & Readonly<Record<string, unknown>>

function attributeOf(options: AttributeOptions): StorageAttribute {
  const attributes = { ID: { type: 'long' }, x: options }
  const catalog = loadModel(modelWith({ Thing: attributes }))
  return catalog.dataClasses[0]!.attributesByName.get('x') as StorageAttribute
}

const columnOf = (type: string, modifier = -1): RemoteColumn => ({
  name: 'x',
  type,
  modifier,
  sqlType: type,
  isNullable: true,
  labels: null,
  hasDefault: false,
  isGenerated: false,
})

interface Reading {
  readonly attribute: AttributeOptions
  readonly type: string
  /** Texts of the database with their values, or with a part of the reason why there is none. */
  readonly values: readonly (readonly [string, Value | RegExp])[]
}

const readings: readonly Reading[] = [
  {
    attribute: { type: 'bool' },
    type: 'bool',
    values: [
      ['t', true],
      ['f', false],
    ],
  },
  {
    attribute: { type: 'long64' },
    type: 'int8',
    values: [
      ['5', 5],
      ['9007199254740993', 9007199254740993n],
    ],
  },
  { attribute: { type: 'number' }, type: 'int8', values: [['9007199254740993', 9007199254740992]] },
  {
    attribute: { type: 'number' },
    type: 'numeric',
    values: [
      ['0.10', 0.1],
      ['1'.repeat(400), /not a number that a double/],
    ],
  },
  {
    attribute: { type: 'long' },
    type: 'numeric',
    values: [
      ['5', 5],
      ['5.00', 5],
      ['5.5', /not an integer of 64 bits/],
    ],
  },
  {
    attribute: { type: 'decimal', scale: 2 },
    type: 'numeric',
    values: [
      ['1.5', 150],
      ['-0.01', -1],
      ['1234567890123456.78', 123456789012345678n],
      ['0.001', /more than 2 digits after the point/],
      ['12345678901234567.00', /more than 18 digits/],
    ],
  },
  { attribute: { type: 'decimal', scale: 2 }, type: 'int4', values: [['-7', -700]] },
  {
    attribute: { type: 'date' },
    type: 'timestamptz',
    values: [
      ['2020-01-31 15:23:00.0019+00', Date.UTC(2020, 0, 31, 15, 23, 0, 1)],
      ['0044-03-15 00:00:00+00 BC', Date.parse('-000043-03-15T00:00:00Z')],
      ['2020-01-31 15:23:00+02', Date.UTC(2020, 0, 31, 13, 23)],
      ['1890-01-01 00:00:00+00:19:32', Date.UTC(1889, 11, 31, 23, 40, 28)],
      ['12345-01-02 03:04:05.006+00', Date.parse('+012345-01-02T03:04:05.006Z')],
      ['2020-01-31 15:23:00+02 x', /is not a date/],
      ['294276-12-31 00:00:00+00', /is not a date that can be shown/],
    ],
  },
  { attribute: { type: 'date' }, type: 'date', values: [['0099-12-31', Date.parse('0099-12-31T00:00:00Z')]] },
  {
    attribute: { type: 'duration' },
    type: 'interval',
    values: [
      ['1 day -00:00:01', 86_399_000],
      ['-00:00:00.0005', -1],
      ['100:00:00', 360_000_000],
      ['1 mon', /months/],
    ],
  },
  { attribute: { type: 'duration' }, type: 'time', values: [['24:00:00', 86_400_000]] },
  {
    attribute: { type: 'uuid' },
    type: 'uuid',
    values: [['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC999C0B4EF8BB6D6BB9BD380A11']],
  },
  {
    attribute: { type: 'object' },
    type: 'jsonb',
    values: [
      ['{"a":[1]}', { a: [1] }],
      ['null', null],
      ['5', 5],
      ['"text"', 'text'],
      ['1e400', /no double/],
    ],
  },
]

for (const { attribute, type, values } of readings) {
  t.test(`${attribute.type} in a column of type ${type}`, async t => {
    const form = columnForm(attributeOf(attribute), [columnOf(type)])
    if (typeof form === 'string') return t.fail(form)
    for (const [text, value] of values) {
      const read = form.read(text)
      if (value instanceof RegExp) t.match(read instanceof Unfit && read.reason, value, text)
      else t.same(read, value, text)
    }
  })
}

const written: readonly [AttributeOptions, string, Value, string][] = [
  [{ type: 'bool' }, 'bool', true, 't'],
  [{ type: 'decimal', scale: 2 }, 'numeric', -5, '-0.05'],
  [{ type: 'decimal', scale: 0 }, 'numeric', 12345678901234567n, '12345678901234567'],
  [{ type: 'date' }, 'timestamptz', 0.0, '1970-01-01 00:00:00.000+00'],
  [{ type: 'date' }, 'timestamp', Date.parse('+012345-01-02T03:04:05.006Z'), '12345-01-02 03:04:05.006'],
  [{ type: 'date' }, 'timestamptz', Date.parse('0000-01-01T00:00:00Z'), '0001-01-01 00:00:00.000+00 BC'],
  [{ type: 'date', simpleDate: true }, 'date', Date.parse('-000043-03-15T00:00:00Z'), '0044-03-15 BC'],
  [{ type: 'duration' }, 'time', 93_600_500, '26:00:00.500'],
  [{ type: 'duration' }, 'time', -1, '-00:00:00.001'],
  [{ type: 'duration' }, 'interval', -1, '-1 milliseconds'],
]

for (const [attribute, type, value, text] of written) {
  t.test(`a ${attribute.type} is written as ${text}`, async t => {
    const form = columnForm(attributeOf(attribute), [columnOf(type)])
    t.equal(typeof form === 'string' ? form : form.write(value), text)
  })
}

t.test('columns that an attribute cannot have', async t => {
  const refused: readonly [AttributeOptions, string][] = [
    [{ type: 'bool' }, 'int4'],
    [{ type: 'long' }, 'float8'],
    [{ type: 'long' }, 'text'],
    [{ type: 'number' }, 'text'],
    [{ type: 'decimal', scale: 2 }, 'float8'],
    [{ type: 'date' }, 'text'],
    [{ type: 'duration' }, 'timestamptz'],
    [{ type: 'uuid' }, 'bytea'],
    [{ type: 'vector', dimension: 2 }, 'text'],
    [{ type: 'blob' }, 'text'],
  ]
  for (const [attribute, type] of refused) {
    const reason = columnForm(attributeOf(attribute), [columnOf(type)])
    t.equal(reason, `the column "x" is of type ${type}; x is a ${attribute.type}`)
  }
})
