import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { openEngine } from '../../../engine/index.ts'
import { engineOptions } from '../../../kernel/main.ts'
import { entities, loadWorld } from '../../support/load-world.ts'

/** `tesser load --new-class`. */

t.setTimeout(120_000)

const person = { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string' } } }
const model = { name: 'test', dataClasses: { Person: person } }
const world = (t: Test, files: Record<string, string | Buffer>) => loadWorld(t, model, files)

t.test('a dataclass is proposed for a file, created after a yes, and loaded', async t => {
  const file = 'City name;Founded;Country\nBern;1.8.1191;CH\nZürich;25.12.1218;CH\n'
  const { load, config, cwd } = world(t, { 'cities.csv': file })
  const create = { newClass: 'City' } as const
  const before = readFileSync(config.model, 'utf8')
  await t.rejects(load('cities.csv', { create }), { message: /^nothing is created without a yes: give --yes/ })
  await t.rejects(load('cities.csv', { create }, undefined, 'no'), {
    message: /^nothing was created; --column, --type/,
  })
  t.equal(readFileSync(config.model, 'utf8'), before)
  t.notOk(existsSync(join(cwd, 'data')), 'nothing is written before the yes')
  const { text, notes } = await load('cities.csv', { create }, undefined, 'y')
  t.match(
    notes,
    /^cities\.csv: CSV in utf-8, ";" between fields, dates day-month-year; 3 columns, 2 rows\n +column .*\n +City name +cityName +string +indexed +0 +Bern · Zürich\n +Founded +founded +date \(day\) +indexed/,
  )
  t.match(notes, /City gets ID, which numbers its entities/)
  t.match(text, /^2 rows read: 2 inserted\nserve it: npx tesser start --model /)
  const written = JSON.parse(readFileSync(config.model, 'utf8'))
  t.same(written.dataClasses.City, {
    key: 'ID',
    attributes: {
      ID: { type: 'long', autoFill: 'increment' },
      cityName: { type: 'string', indexed: true },
      founded: { type: 'date', simpleDate: true, indexed: true },
      country: { type: 'string', indexed: true },
    },
  })
  t.same(written.dataClasses.Person, model.dataClasses.Person, 'the rest of the model stays')
  t.match(await load('cities.csv', { into: 'City' }), { text: '2 rows read: 2 inserted\n' })
  t.match(await entities(config, 'City'), [
    { ID: 1, cityName: 'Bern', founded: '1191-08-01', country: 'CH' },
    { ID: 2, cityName: 'Zürich' },
    { ID: 3 },
    { ID: 4 },
  ])
  await t.rejects(load('cities.csv', { create }), {
    message: /has a dataclass City already; --into City loads into it/,
  })
})

t.test('a proposal is changed by options, and the name of a dataclass is that of the file', async t => {
  const { load, config } = world(t, {
    'old towns.csv.gz': gzipSync('nr,size,note\n7,12.50,x\n8,3.10,\n'),
    'empty.csv': '',
  })
  const create = { newClass: true, yes: true } as const
  const options = { ...create, columns: { note: null, nr: 'code' }, types: { size: 'number' }, key: 'code' }
  const { text } = await load('old towns.csv.gz', { create: options })
  t.match(text, /^2 rows read: 2 inserted/)
  t.match(await entities(config, 'OldTowns'), [{ code: 7, size: 12.5 }, { code: 8 }])
  const wrong = [
    [{ types: { siez: 'number' } }, /no column becomes the attribute "siez"; they are nr, size, note/],
    [{ types: { size: 'nmber' } }, /the model cannot be used:[\s\S]*"nmber"/],
    [{ types: { size: '' } }, /^--type size=: it is a type such as/],
    [{ columns: { Nr: 'x' } }, /there is no column "Nr"/],
    [{ columns: { nr: 'a b' } }, /may have letters, digits and "_" only/],
    [{ key: 'x' }, /no column becomes the attribute "x"/],
    [{ newClass: 'not' }, /is a word of the query language/],
  ] as const
  for (const [more, message] of wrong)
    await t.rejects(load('old towns.csv.gz', { create: { ...create, newClass: 'Town', ...more } }), { message })
  await t.rejects(load('empty.csv', { create }), { message: /is empty: there is nothing to make a dataclass of/ })
  t.notOk('Town' in JSON.parse(readFileSync(config.model, 'utf8')).dataClasses)
})

t.test('values of the sample that are not of the type of --type are refused before anything is written', async t => {
  const { load, config, cwd } = world(t, {
    'a.csv': 'Aktiv;Betrag;Tag\nja;1.234,50;1.2.2024\nNEIN;;31.12.2024\n;2,5;N/A\nvielleicht;3;1.2.2024\n',
    'b.json': '[{"size":1},{"size":"ja"}]',
  })
  const create = { newClass: 'A', yes: true } as const
  const before = readFileSync(config.model, 'utf8')
  const refused = [
    ['a.csv', { aktiv: 'bool' }, /^--type aktiv=bool: column "Aktiv" has "vielleicht": .* is true or false; .*--nulls/],
    ['a.csv', { betrag: 'long' }, /^--type betrag=long: column "Betrag" has "1\.234,50"/],
    ['a.csv', { tag: 'duration' }, /^--type tag=duration: column "Tag" has "1\.2\.2024"/],
    ['a.csv', { aktiv: 'object' }, /^--type aktiv=object: column "Aktiv" has "ja"/],
    ['b.json', { size: 'bool' }, /^--type size=bool: column "size" has "ja"/],
    ['b.json', { size: 'number' }, /^--type size=number: column "size" has "ja"/],
  ] as const
  for (const [file, types, message] of refused)
    await t.rejects(load(file, { create: { ...create, types } }), { name: 'InputError', message })
  t.equal(readFileSync(config.model, 'utf8'), before)
  t.notOk(existsSync(join(cwd, 'data')))
  const given = { create: { ...create, types: { aktiv: 'bool', betrag: 'decimal(2)', tag: 'day' } } }
  const { text } = await load('a.csv', { ...given, nulls: ['vielleicht', 'N/A'] })
  t.match(text, /^4 rows read: 4 inserted/)
  t.match(await entities(config, 'A'), [
    { aktiv: true, betrag: 1234.5, tag: '2024-02-01' },
    { aktiv: false, betrag: null },
    { aktiv: null, betrag: 2.5, tag: null },
    { aktiv: null, betrag: 3 },
  ])
})

t.test('a model file is made where there is none; objects with other names, and a key of the file', async t => {
  const rows =
    '{"id":7,"first name":"Ada","born":"1815-12-10","zip":"01234"}\n{"id":8,"first name":"Bob","__STAMP":3}\n'
  const { load, config, cwd } = world(t, { 'people.ndjson': rows, 'more.json': '[{"id":9,"first name":"Eve"}]' })
  rmSync(join(cwd, 'model.json'))
  await load('people.ndjson', { create: { newClass: 'Human', yes: true } })
  t.match(JSON.parse(readFileSync(config.model, 'utf8')), { name: 'human', dataClasses: { Human: { key: 'id' } } })
  t.match(await load('more.json', { into: 'Human' }), { text: '1 row read: 1 inserted\n' })
  t.match(await entities(config, 'Human'), [
    { id: 7, firstName: 'Ada', born: '1815-12-10', zip: '01234' },
    { id: 8, firstName: 'Bob', born: null },
    { id: 9, firstName: 'Eve' },
  ])
})

t.test('a store that is in use is found before the model is changed', async t => {
  const { load, config } = world(t, { 'a.csv': 'x\n1\n' })
  const before = readFileSync(config.model, 'utf8')
  const engine = await openEngine(engineOptions(config))
  await t.rejects(load('a.csv', { create: { newClass: 'A', yes: true } }), { message: /in use|another process|locked/ })
  await engine.close()
  t.equal(readFileSync(config.model, 'utf8'), before)
})
