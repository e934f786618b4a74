/** `tesser load` reads lists in JSON documents, and GeoJSON. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { RowTarget } from '../../../engine/row-target.ts'
import { loadWorld } from '../../support/commands/load-world.ts'
import { world } from './load-people.ts'

t.setTimeout(120_000)

const people = '[{"ID":1,"name":"Ann"},{"ID":2,"name":"Bob"}]'

t.test('--path leads to the list of rows', async t => {
  const { load, people: all } = world(t, {
    'a.json': `{"data":{"items":${people}},"other":[{"x":1}],"last":"x"}`,
    'b.json': Buffer.from(`\uFEFF{"a.b":[{"ID":3,"name":"Cy"}],"c":[{}]}`, 'utf16le'),
    'c.json.gz': gzipSync('[7,[{"ID":4,"name":"Di"}]]'),
    'd.json': '{"items":[]}',
  })
  t.match(await load('a.json', { path: 'data.items' }), {
    isComplete: true,
    text: '2 rows read: 2 inserted\n',
    notes: 'a.json: JSON in utf-8, the list data.items',
  })
  t.match(await load('b.json', { path: '/a.b' }), { isComplete: true, notes: /JSON in utf-16le, the list \/a\.b/ })
  t.match(await load('c.json.gz', { path: '1' }), { isComplete: true })
  t.match(await load('d.json', { path: 'items' }), { isComplete: true, text: '0 rows read: 0 inserted\n' })
  t.match(
    (await all()).map(({ name }) => name),
    ['Ann', 'Bob', 'Cy', 'Di'],
  )
})

t.test('the only list of objects in a document is its rows', async t => {
  const { load, people: all } = world(t, {
    'a.json': `{"page":1,"tags":["a"],"empty":[],"result":{"people":${people}},"map":{"x":{"y":[1]}}}`,
    'b.json': '{"count":0,"people":[]}',
    'c.json': `{"result":[\n{"ID":3,"name":"C"},\n{"ID":4,"name":"D"\n`,
  })
  t.match(await load('a.json'), { isComplete: true, notes: 'a.json: JSON in utf-8, the list result.people' })
  t.match(await load('b.json'), { isComplete: true, notes: 'b.json: JSON in utf-8, the list people' })
  const { text, rejected } = await load('c.json')
  t.match(text, /^3 rows read: 1 inserted, 2 rejected\n/)
  t.match(rejected, [{ line: 3 }, { line: 4, errors: [/ends inside the array/] }])
  t.equal((await all()).length, 3)
})

t.test('whether a list is the only one is decided by the whole document, and a late list has a sample', async t => {
  const filler = `[${Array.from({ length: 120_000 }, (_, i) => `"${i} is no object, ever, at all, really"`).join(',')}]`
  t.ok(filler.length > 4 * 2 ** 20)
  const { load, entities } = loadWorld(
    t,
    { name: 'm', dataClasses: {} },
    {
      'a.json': `{"a":${filler},"b":[{"n":1,"s":"x"},{"n":2,"s":"y"}]}`,
      'b.json': `{"a":[{"n":1}],"b":${filler},"c":[{"n":2}]}`,
    },
  )
  const create = { newClass: 'File', yes: true }
  t.match(await load('a.json', { create }), {
    isComplete: true,
    notes: /^a\.json: JSON in utf-8, the list b; 2 columns, 2 rows/,
  })
  t.match(await entities('File'), [
    { n: 1, s: 'x' },
    { n: 2, s: 'y' },
  ])
  await t.rejects(load('b.json', { create: { newClass: 'Other', yes: true } }), {
    message: /has several lists of objects: a, c; /,
  })
})

t.test('documents without one list of objects are refused, and nothing is saved', async t => {
  const files = {
    'db.json': '{"posts":[{"id":1}],"comments":[{"id":1}],"profile":{"links":[{}]}}',
    'none.json': '{"a":1}',
    'lines.json': '{"ID":1,"tags":[{}]}\n{"ID":2,"tags":[{}]}\n',
    'broken.json': '{"a":tru,"b":',
    'a.csv': 'ID\n1\n',
    'a.ndjson': '{"ID":1}',
    'deep.json': `${'{"a":'.repeat(100_000)}1`,
  }
  const { load } = world(t, files)
  const several =
    /db\.json has several lists of objects: posts, comments, profile\.links; --path chooses one, such as --path posts$/
  const cases: [string, string | undefined, RegExp][] = [
    ['db.json', undefined, several],
    ['db.json', 'post', /^there is nothing at post; lists of objects: posts, comments, profile\.links$/],
    ['db.json', 'profile', /^profile is an object, not a list of objects; /],
    [
      'none.json',
      undefined,
      /none\.json is an object without a list of objects; for an object on each line give --format ndjson$/,
    ],
    [
      'lines.json',
      undefined,
      /^line 2: "\{" after the end of the document; for an object on each line give --format ndjson$/,
    ],
    ['broken.json', undefined, /without a list of objects; the file ends inside the document$/],
    ['deep.json', undefined, /without a list of objects; the file ends inside the document$/],
    ['a.csv', 'x', /^--path is for JSON documents, and .*a\.csv is another file$/],
    ['a.ndjson', 'x', /^--path is for JSON documents, and .*a\.ndjson has a row on each line$/],
    ['db.json', 'x..y', /^the path "x\.\.y" has an empty name/],
  ]
  for (const [file, path, message] of cases)
    await t.rejects(load(file, { path }), { name: 'InputError', message }, file)
})

t.test('rejected rows of a list in a document are loaded again by the printed command', async t => {
  const {
    load,
    people: all,
    cwd,
  } = world(t, { 'a.json': `{"x":[{"ID":1,"name":"a very long name"},{"ID":2,"name":"B"}]}` })
  const errors = join(cwd, 'a.json.errors.ndjson')
  const { text } = await load('a.json', { path: 'x', errors })
  t.match(text, /after you fix its rows: npx tesser load \S*a\.json\.errors\.ndjson --into Person --model/)
  writeFileSync(errors, readFileSync(errors, 'utf8').replace('a very long name', 'A'))
  t.match(await load('a.json.errors.ndjson'), { isComplete: true, text: '1 row read: 1 inserted\n' })
  t.equal((await all()).length, 2)
  t.match((await load('a.json', { path: 'x', errors: join(cwd, 'e.json') })).text, /e\.json .*--format ndjson/)
})

t.test('a load of a list can be resumed with the same path', async t => {
  const { load, people: all } = world(t, { 'a.json': `{"x":${people},"y":${people.replaceAll('ID":', 'ID":3')}}` })
  const { restore } = t.intercept(RowTarget.prototype, 'insert', {
    async value() {
      throw new Error('the disk is full')
    },
  })
  await t.rejects(load('a.json', { path: 'x' }), { message: /^the disk is full\n/ })
  restore()
  await t.rejects(load('a.json', { path: 'y', resume: true }), { message: /the options for reading it have changed/ })
  t.match(await load('a.json', { path: 'x', resume: true }), { isComplete: true })
  t.equal((await all()).length, 2)
})

t.test('values that are nested too deeply are rejected rows', async t => {
  for (const depth of [5_000, 100_000]) {
    const value = `${'['.repeat(depth)}${']'.repeat(depth)}`
    const { load, entities } = loadWorld(
      t,
      { name: 'm', dataClasses: {} },
      { 'a.json': `[{"id":1,"x":${value}},{"id":2}]` },
    )
    const { text, notes } = await load('a.json', { create: { newClass: 'File', yes: true } })
    t.match(text, /^2 rows read: 1 inserted, 1 rejected\n/)
    t.match(notes, /line 1: its values are nested too deeply/)
    t.match(await entities('File'), [{ id: 2 }])
  }
})

const feature = (properties: object, geometry: object | null, more = {}) => ({
  type: 'Feature',
  properties,
  geometry,
  ...more,
})
const collection = (...features: object[]): string => JSON.stringify({ type: 'FeatureCollection', name: 'x', features })
const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const line = {
  type: 'LineString',
  coordinates: [
    [1, 2],
    [3, 4],
  ],
}

const places = (t: Test, files: Record<string, string>, attributes: object = {}) =>
  loadWorld(
    t,
    {
      name: 'm',
      dataClasses: {
        Place: {
          key: 'id',
          attributes: { id: { type: 'long' }, name: { type: 'string', maxLength: 9 }, ...attributes },
        },
      },
    },
    files,
  )

t.test('features become a new dataclass: points have longitude and latitude, others a geometry', async t => {
  const { load, entities } = places(t, {
    'towns.geojson': collection(
      feature({ NAME: 'Bern', id: 7 }, point(7, 46), { id: 1 }),
      feature({ NAME: 'Chur', id: 8 }, null, { id: 2 }),
    ),
    'ways.json': collection(feature({ name: 'a' }, line), feature({ name: 'b' }, point(1, 2))),
    'sorted.json':
      '{"features":[{"geometry":{"coordinates":[1,2,3],"type":"Point"},"properties":{},"type":"Feature"}],"type":"FeatureCollection"}',
    'lines.geojsonl': `${JSON.stringify(feature({ n: 1 }, null))}\n${JSON.stringify(feature({ n: 2 }, null))}\n`,
  })
  const create = (newClass: string) => ({ create: { newClass, yes: true } })
  const towns = await load('towns.geojson', create('Town'))
  t.match(towns.notes, /^towns\.geojson: GeoJSON in utf-8; 5 columns, 2 rows\n/)
  t.match(await entities('Town'), [
    { id: 1, name: 'Bern', propertiesId: 7, longitude: 7, latitude: 46 },
    { id: 2, name: 'Chur', propertiesId: 8, longitude: null, latitude: null },
  ])
  t.match(await load('ways.json', create('Way')), { isComplete: true, notes: /GeoJSON in utf-8; 2 columns/ })
  t.match(await entities('Way'), [
    { name: 'a', geometry: line },
    { name: 'b', geometry: point(1, 2) },
  ])
  t.match(await load('sorted.json', create('Sorted')), { isComplete: true })
  t.match(await entities('Sorted'), [{ longitude: 1, latitude: 2, altitude: 3 }])
  t.match(await load('lines.geojsonl', create('Line')), { isComplete: true })
  t.match(await entities('Line'), [{ n: 1 }, { n: 2 }])
  t.match(await load('ways.json', { ...create('Raw'), format: 'json' }), {
    notes: /JSON in utf-8, the list features; 3 columns/,
  })
})

t.test('features are loaded into the attributes that a dataclass has', async t => {
  const text = collection(
    feature({ id: 1, name: 'A' }, point(8, 47)),
    feature({ id: 2 }, line),
    feature({ id: 3 }, null),
  )
  const number = { type: 'number' }
  const cases: [object, object | undefined, object[]][] = [
    [
      { longitude: number, latitude: number },
      undefined,
      [
        { id: 1, longitude: 8, latitude: 47 },
        { id: 3, longitude: null },
      ],
    ],
    [
      { geometry: { type: 'object' } },
      undefined,
      [
        { id: 1, geometry: point(8, 47) },
        { id: 2, geometry: line },
        { id: 3, geometry: null },
      ],
    ],
    [
      { lon: number, lat: number, shape: { type: 'object' } },
      { longitude: 'lon', latitude: 'lat', geometry: 'shape' },
      [
        { id: 1, lon: 8, lat: 47, shape: point(8, 47) },
        { id: 2, lon: null, shape: line },
        { id: 3, shape: null },
      ],
    ],
    [
      { longitude: number, latitude: number },
      { geometry: null },
      [{ id: 1, latitude: 47 }, { id: 2, latitude: null }, { id: 3 }],
    ],
    [{}, undefined, [{ id: 3 }]],
  ]
  for (const [i, [attributes, columns, expected]] of cases.entries())
    await t.test(`case ${i}`, async t => {
      const { load, entities } = places(t, { 'a.geojson': text }, attributes)
      await load('a.geojson', { into: 'Place', columns: columns as never })
      const found = await entities('Place')
      t.match(found, expected)
      t.equal(found.length, expected.length)
    })
})

t.test('features refer to other entities by their names', async t => {
  const parent = { kind: 'relatedEntity', type: 'Place', foreignKey: 'parentID' }
  const name = { type: 'string', unique: true }
  const { load, entities } = places(
    t,
    { 'a.geojson': collection(feature({ id: 1, name: 'A' }, line), feature({ id: 2, in: 'A' }, line)) },
    { name, parentID: { type: 'long' }, parent, geometry: { type: 'object' } },
  )
  const columns = { in: 'parent' }
  const { text } = await load('a.geojson', { into: 'Place', columns, relations: { in: 'Place.name' } })
  t.equal(text, '2 rows read: 2 inserted\n')
  t.match(await entities('Place'), [{ id: 1 }, { id: 2, parentID: 1, geometry: line }])
})

t.test('rejected features are loaded again by the printed command', async t => {
  const number = { type: 'number' }
  const text = `{"type":"FeatureCollection","features":[\n${JSON.stringify(feature({ id: 1, name: 'much too long' }, point(8, 47)))},\n{"type":"Feature","properties":{"id":2}},\n{"type":"Feature","properties":{"id":3},"geometry":7},\n{"type":"Feature","properties":{"__proto__":4},"geometry":null},\n7]}`
  const { load, entities, cwd } = places(t, { 'a.json': text }, { longitude: number, latitude: number })
  const errors = join(cwd, 'a.json.errors.geojsonl')
  const first = await load('a.json', { into: 'Place', errors })
  t.match(
    first.text,
    /^5 rows read: 1 inserted, 4 rejected\n.*\nafter you fix its rows: npx tesser load \S*\.geojsonl --into Place --model/,
  )
  const written = readFileSync(errors, 'utf8')
  t.match(written, /^\{"__LINE":2,"__ERROR":"name [^"]*(?:\\"[^"]*)*","type":"Feature","properties":\{"id":1,/m)
  t.match(written, /^\{"__LINE":6,"__ERROR":"a row is a JSON object","__ROW":"7"\}$/m)
  const again = await load('a.json.errors.geojsonl', { into: 'Place', errors: join(cwd, 'again.geojsonl') })
  t.match(again.text, /^4 rows read: 0 inserted, 4 rejected\n/, 'as they are')
  const right = written
    .replace('much too long', 'short')
    .replace('"geometry":7', '"geometry":null')
    .replace('__proto__', 'id')
    .replace('"__ROW":"7"', `"__ROW":${JSON.stringify(JSON.stringify(feature({ id: 5 }, null)))}`)
  writeFileSync(errors, right)
  t.match(await load('a.json.errors.geojsonl', { into: 'Place' }), { isComplete: true })
  t.match(await entities('Place'), [{ id: 1, name: 'short', longitude: 8 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }])
  const { text: named } = await load('a.json', { into: 'Place', errors: join(cwd, 'e.ndjson') })
  t.match(named, /e\.ndjson --into Place --format geojsonl --model/)
})
