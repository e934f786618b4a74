/** Dumps that others have written, or an earlier version. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { timeoutMs } from '../support/runner/rounds.ts'
import { openTestStore } from '../support/engine/test-store.ts'
import { contentOf, valuesOf } from './dump-world.ts'
import { restore } from './dump-calls.ts'

t.setTimeout(timeoutMs)

/** A dump as someone writes it by hand. */
const BY_HAND = {
  'dump.json': '{"form":1}',
  'model.json': JSON.stringify({
    name: 'by-hand',
    dataClasses: {
      Person: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          name: { type: 'string', maxLength: 3 },
          photo: { type: 'image' },
          paper: { type: 'blob' },
          bossID: { type: 'long' },
          boss: { kind: 'relatedEntity', type: 'Person', foreignKey: 'bossID' },
          cityName: { type: 'string' },
          city: { kind: 'relatedEntity', type: 'City', foreignKey: 'cityName' },
        },
      },
      City: {
        key: 'name',
        attributes: {
          name: { type: 'string' },
          mayorID: { type: 'long' },
          mayor: { kind: 'relatedEntity', type: 'Person', foreignKey: 'mayorID' },
        },
      },
      Nothing: { key: 'ID', attributes: { ID: { type: 'uuid' } } },
    },
  }),
  data: {
    'Person.ndjson': [
      '{"ID": 7, "name": "too long for its limit", "bossID": 9, "cityName": "köln"}\r',
      '{"ID":9,"photo":"data:image/png;base64,AAAA","paper":{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}',
    ].join('\n'),
    'City.ndjson': '{"name":"Köln","mayorID":7,"__STAMP":5}\n',
  },
  blobs: { '2d': { '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881': 'x' } },
}

t.test('a dump that is written by hand becomes a store', async t => {
  const folder = t.testdir({ hand: BY_HAND })
  const path = join(folder, 'store')
  const made = await restore(join(folder, 'hand'), path)
  t.same(made, { stamp: 3, entities: { Person: 2, City: 1, Nothing: 0 } })
  const store = openTestStore(t, { model: JSON.parse(BY_HAND['model.json']), path })
  t.same(store.problems(), [])
  const [first, second] = store.all('Person')
  t.match(first, { ID: 7, name: 'too long for its limit', bossID: 9, cityName: 'Köln', __STAMP: 1 })
  t.match(first, { city: { __deferred: { __KEY: 'Köln' } }, boss: { __deferred: { __KEY: '9' } } })
  t.match(second, { ID: 9, photo: { __deferred: { image: true } }, paper: { __deferred: {} }, name: null })
  t.match(store.all('City'), [{ name: 'Köln', mayorID: 7, __STAMP: 5, mayor: { __deferred: { __KEY: '7' } } }])
  t.equal(store.one('Person', { name: 'new' }).entity.ID, 10)
})

t.test('a dump becomes a store of another model', async t => {
  const folder = t.testdir({ hand: BY_HAND })
  const other = JSON.parse(BY_HAND['model.json'])
  const { Person, City } = other.dataClasses
  delete Person.attributes.photo
  delete Person.attributes.city
  delete Person.attributes.cityName
  delete Person.attributes.name
  Person.attributes.fullName = { type: 'string', indexed: true, formerName: 'name' }
  Person.attributes.added = { type: 'bool' }
  other.dataClasses = { Human: { ...Person, formerName: 'Person' }, City }
  Person.attributes.boss.type = 'Human'
  City.attributes.mayor.type = 'Human'
  const [hand, path] = [join(folder, 'hand'), join(folder, 'store')]
  await t.rejects(restore(hand, path, { model: other }), {
    name: 'DumpError',
    message:
      /does not have what the dump has:\n {2}- Person\.photo\n {2}- Person\.cityName\n {2}- the dataclass Nothing\n/,
  })
  await restore(hand, path, { model: other, leaveOutUnknown: true })
  const store = openTestStore(t, { model: other, path })
  t.same(store.problems(), [])
  t.match(store.all('Human'), [{ ID: 7, fullName: 'too long for its limit', added: null }, { ID: 9 }])
  await t.rejects(restore(hand, join(folder, 'x'), { model: { name: 'x' } }), { name: 'ModelError' })
})

t.test('dumps of form 1 stay readable', async t => {
  const path = join(t.testdir(), 'store')
  const fixture = 'test/support/fixtures/dump-form-1'
  const { stamp } = await restore(fixture, path)
  t.equal(stamp, JSON.parse(readFileSync(join(fixture, 'dump.json'), 'utf8')).globalStamp)
  const expected = JSON.parse(readFileSync(`${fixture}.json`, 'utf8'))
  t.equal(Object.keys(expected).length, 62)
  t.strictSame(JSON.parse(JSON.stringify(await valuesOf(path))), expected)
  t.equal((await contentOf(path)).get('problems'), '[]')
})

t.test('values that have to be unique are listed by file and line, with all other problems', async t => {
  const long = 'x'.repeat(1100)
  const folder = t.testdir({
    'dump.json': JSON.stringify({
      form: 1,
      dataClasses: { Item: { files: ['a', 'b', 'c'].map(name => ({ file: `data/${name}.ndjson` })) } },
    }),
    'model.json': JSON.stringify({
      name: 'duplicates',
      dataClasses: {
        Item: {
          key: 'ID',
          attributes: {
            ID: { type: 'long' },
            code: { type: 'string', unique: true },
            first: { type: 'long' },
            second: { type: 'long' },
          },
          unique: [['first', 'second']],
        },
      },
    }),
    data: {
      'a.ndjson': `{"ID":5,"code":"${long}a"}\n{"ID":3,"code":"abc","first":1,"second":2}\n{"ID":2,"code":null}\n`,
      'b.ndjson': '',
      'c.ndjson': [
        { ID: 6, code: `${long}b` },
        { ID: 5 },
        { ID: 'seven' },
        { ID: 8, code: 'ABC' },
        { ID: 9, code: `${long.toUpperCase()}A` },
        { ID: 10, first: 1, second: 2 },
        { ID: 11, first: 1, second: 3 },
      ]
        .map(row => JSON.stringify(row))
        .join('\n'),
    },
  })
  const message = await restore(folder, join(folder, 'store')).catch((error: Error) => error.message)
  const lines = String(message).split('\n')
  t.match(lines, [
    'the dump has entities that cannot be put into a store:',
    /^ {2}- data\/c\.ndjson, line 3: .*ID/,
    /^ {2}- data\/c\.ndjson, line 2: ID: another entity has the value "5", which is unique/,
    /^ {2}- data\/c\.ndjson, line 4: code: another entity has the value "ABC", which is unique/,
    /^ {2}- data\/c\.ndjson, line 5: code: another entity has the value "X+", which is unique/,
    /^ {2}- data\/c\.ndjson, line 6: .*another entity has the values .*, which are unique together/,
  ])
  t.equal(lines.length, 6)
})
