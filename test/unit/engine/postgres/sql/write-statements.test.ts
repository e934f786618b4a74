/** Statements of changes: their texts depend on the attributes and not on the values, since each text is prepared. */
import t from 'tap'
import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import type { Value } from '../../../../../engine/catalog/value.ts'
import type { RemoteTable } from '../../../../../engine/postgres/sql/remote-table.ts'
import {
  type ColumnValues,
  insertStatement,
  updateDifferentStatement,
} from '../../../../../engine/postgres/sql/write-statements.ts'
import { describedTables } from '../../../../support/databases/described-tables.ts'

const catalog = loadModel({
  name: 'notes',
  dataClasses: {
    Note: {
      storage: { postgres: 'db', table: 'note', stamp: 'stamp', timestamp: 'changed' },
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        text: { type: 'string' },
        size: { type: 'number' },
        day: { type: 'date', simpleDate: true },
        done: { type: 'bool' },
        info: { type: 'object' },
      },
    },
  },
})
const Note = catalog.dataClassesByName.get('Note')!
const columns = {
  ID: 'int4!',
  text: 'text',
  size: 'float8',
  day: 'date',
  done: 'bool',
  info: 'jsonb',
  stamp: 'int4!',
  changed: 'timestamptz',
}
const table = describedTables(catalog, { Note: columns }).get(Note) as RemoteTable
const TIME = '2020-01-31T08:30:00.000Z'

const valuesOf = (values: Readonly<Record<string, Value>>): ColumnValues =>
  new Map(Object.entries(values).map(([name, value]) => [Note.attributesByName.get(name) as never, value]))
const insert = (...rows: Readonly<Record<string, Value>>[]) => insertStatement(table, rows.map(valuesOf), TIME)
const update = (values: Readonly<Record<string, Value>>) =>
  updateDifferentStatement(table, 1, 3, valuesOf(values), TIME)!

const SOME = [
  { text: 'a', size: 1.5, done: true },
  { text: null, size: 1.5, done: true },
  { text: 'a', size: null, done: null },
  { text: null, size: null, done: null },
]

t.test('null is a parameter', async t => {
  const inserts = SOME.map(values => insert(values))
  t.equal(new Set(inserts.map(({ text }) => text)).size, 1, 'of one statement that inserts')
  t.same(inserts[1]!.values, [null, '1.5', 't', TIME])
  t.same(inserts[3]!.values, [null, null, null, TIME])
  const texts = SOME.map(({ text }) => update({ text }))
  t.equal(new Set(texts.map(each => each.text)).size, 1, 'and of one that changes')
  t.match(texts[1]!.text, /"text" IS DISTINCT FROM \$1::text/)
  t.equal(texts[1]!.values[0], null)
})

t.test('null differs from the values that a column can show and the attribute can have', async t => {
  const [changed, emptied] = [update({ size: 1.5 }), update({ size: null })]
  t.match(changed.text, /"size" IS DISTINCT FROM \$1::float8/)
  t.match(emptied.text, /"size" > '-Infinity'::float8/, 'an infinite number is null already')
  t.equal(emptied.values[0], null)
})

t.test('several rows are an array for each column', async t => {
  const two = insert({ text: 'a', size: 1 }, { text: null, size: null })
  const three = insert({ text: 'b', size: 2 }, { text: 'c', size: 3 }, { text: '', size: 4 })
  t.equal(two.text, three.text, 'in one statement, however many they are')
  t.match(two.text, /SELECT r\.c0, r\.c1, \$3::\w+ FROM unnest\(\$1::text\[\], \$2::float8\[\]\) AS r \(c0, c1\)/)
  t.same(two.values, ['{"a",NULL}', '{1,NULL}', TIME])
  t.same(three.values, ['{"b","c",""}', '{2,3,4}', TIME])
})

t.test('texts in arrays are quoted', async t => {
  const texts = ['NULL', 'a "b"', String.raw`c\d`, '{e,f}', ' g ', 'é😀', '\n']
  const { values } = insert(...texts.map(text => ({ text, day: Date.UTC(44, 2, 15) })))
  t.equal(values[0], `{"NULL","a \\"b\\"","c\\\\d","{e,f}"," g ","é😀","\n"}`)
  t.equal(values[1], `{${texts.map(() => '"1944-03-15"').join(',')}}`)
})

t.test('rows whose values need JSON are sent as JSON', async t => {
  const { text, values } = insert({ text: 'a', info: { b: 1 } }, { text: null, info: null })
  t.match(text, /json_to_recordset/)
  t.same(JSON.parse(values[0]!), [
    { text: 'a', info: { b: 1 }, changed: TIME },
    { text: null, info: null, changed: TIME },
  ])
  t.match(insert({ text: '\0' }, { text: 'a' }).text, /json_to_recordset/, 'a text that no database can store')
})
