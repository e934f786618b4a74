/** `tesser load --new-class`: keys, questions that a file leaves open, and files of which no row can be saved. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { entities, loadWorld } from '../../support/commands/load-world.ts'

const person = { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string', unique: true } } }
const model = { name: 'test', dataClasses: { Person: person } }
const world = (t: Test, files: Record<string, string>) => loadWorld(t, model, files)

const lines = (...rows: readonly string[]): string => `${rows.join('\n')}\n`

t.test('a key is named like one, or has codes, or is chosen', async t => {
  const cases: readonly (readonly [file: string, key: string | RegExp])[] = [
    [lines('name,iata', 'Zürich,ZRH', 'Bern,BRN', 'Genf,GVA'), 'iata'],
    [lines('name,article', 'a,DE-42', 'b,FR-7'), 'article'],
    [lines('code,id', 'A1,1', 'B2,2'), 'id'],
    [lines('name,row_id', 'a,1', 'b,2'), 'row_id'],
    [lines('name,sku', 'a,x y', 'b,y'), 'sku'],
    [lines('ref,name', '01234567-89ab-cdef-0123-456789abcdef,a', '11234567-89ab-cdef-0123-456789abcdef,b'), 'ref'],
    // Names, numbers and keys of other entities may repeat in a later file.
    [lines('name,size', 'Ann,5', 'Bob,6'), 'ID'],
    [lines('name,customerID', 'x y,A1', 'x z,B2'), 'ID'],
    [lines('name,zip', 'x y,01234', 'x z,01235'), 'ID'],
    [lines('name,iata', 'x y,ZRH', 'x z,ZRH'), 'ID'],
    [lines('name,iata', 'x y,ZRH', 'x z,'), 'ID'],
    [lines('iata,icao', 'ZRH,LSZH', 'BRN,LSZB'), /iata, icao could each be the key: --key iata chooses one, --new-key/],
    [lines('isbn,ean', '1,2', '3,4'), /isbn, ean could each be the key/],
  ]
  const files = Object.fromEntries(cases.map(([text], i) => [`f${i}.csv`, text]))
  const { load, config } = world(t, files)
  for (const [i, [text, key]] of cases.entries()) {
    const newClass = i === 3 ? 'Row' : `C${i}`
    const create = { newClass, yes: true }
    if (typeof key === 'string') {
      t.match((await load(`f${i}.csv`, { create })).text, /2 inserted|3 inserted/)
      t.equal(JSON.parse(readFileSync(config.model, 'utf8')).dataClasses[newClass].key, key, text)
    } else await t.rejects(load(`f${i}.csv`, { create }), { name: 'InputError', message: key })
  }
  t.match((await load('f11.csv', { create: { newClass: 'K', yes: true, key: 'icao' } })).text, /2 inserted/)
  const { notes } = await load('f11.csv', { create: { newClass: 'N', yes: true, newKey: true } })
  t.match(notes, /N gets ID, which numbers its entities/)
  const answered = await load('f11.csv', { create: { newClass: 'Asked' } }, undefined, 'y')
  t.match(answered.notes, /^ {2}iata, icao could each be the key/m)
  t.match(answered.notes, /^Asked gets ID, .*: several columns could be the key/m)
})

t.test('repetitions and nulls in the column of --key', async t => {
  const { load, config } = world(t, { 'a.csv': lines('iata,city', 'ZRH,Zürich', 'BRN,Bern', 'GVA,Zürich', 'X,') })
  const keyed = await load('a.csv', { create: { newClass: 'City', yes: true, key: 'city' } })
  t.match(keyed.notes, /^2 rows will be rejected: the key city is missing or repeated/m)
  t.match(keyed.text, /^4 rows read: 2 inserted, 2 rejected/)
  t.match(await entities(config, 'City'), [{ city: 'Bern' }, { city: 'Zürich' }])
})

t.test('--yes does not answer a question that the file leaves open', async t => {
  const { load, config, cwd } = world(t, {
    'a.csv': lines('name;day;size', 'x;03/04/2024;1,234', 'y;05/06/2024;5,678'),
    'years.csv': lines('name,day', 'x,12-Jun-45', 'y,12-Jun-98'),
  })
  const create = { newClass: 'A', yes: true } as const
  const before = readFileSync(config.model, 'utf8')
  await t.rejects(load('a.csv', { create }), {
    name: 'InputError',
    message:
      /^nothing was created, because --yes does not answer .*:\n {2}1,234 may have .*--type size=string keeps the texts\n {2}03\/04\/2024 may have .*--dates dmy or --dates mdy decides, --type day=string/,
  })
  await t.rejects(load('years.csv', { create }), { message: /12-Jun-45 has a year of two digits: --years 1930 reads/ })
  t.equal(readFileSync(config.model, 'utf8'), before)
  t.notOk(existsSync(join(cwd, 'data')))
  const kept = { ...create, types: { day: 'string' }, columns: { size: null } }
  t.match((await load('a.csv', { create: kept, columns: kept.columns })).text, /2 inserted/)
  t.match((await load('years.csv', { years: 1930, create: { ...create, newClass: 'B' } })).text, /2 inserted/)
  const read = await load('a.csv', { decimal: '.', dates: 'mdy', create: { ...create, newClass: 'C' } })
  t.match(read.text, /2 inserted/)
  t.match(await entities(config, 'C'), [{ day: '2024-03-04', size: 1234 }, { day: '2024-05-06' }])
})

t.test('if no row can be saved, nothing is created, and the corrected file is loaded by the same command', async t => {
  const { load, config, cwd, people } = world(t, {
    'wrong.csv': lines('name,friend', 'x y,Ann', 'x z,Bob'),
    'right.csv': lines('name,friend', 'x y,Eve', 'x z,Bob'),
    'nulls.csv': lines('name,code', 'x y,', 'x z,'),
    'people.csv': lines('ID,name', '1,Eve'),
  })
  const create = { newClass: 'Note', yes: true, relations: { friend: 'Person.name' } } as const
  const relations = create.relations
  const before = readFileSync(config.model, 'utf8')
  const first = await load('wrong.csv', { create, relations })
  t.match(first, {
    isComplete: false,
    text: /2 rejected\nno row could be saved, so nothing was created; .* says why\n/,
  })
  t.notMatch(first.text, /serve it|after you fix/)
  t.equal(readFileSync(config.model, 'utf8'), before)
  t.notOk(existsSync(join(cwd, 'data')), 'no store either')
  await t.rejects(load('wrong.csv', { create, relations: { friend: 'Person.nme' } }), {
    message: /cannot be looked up/,
  })
  t.equal(readFileSync(config.model, 'utf8'), before)
  await t.rejects(load('nulls.csv', { create: { newClass: 'Key', yes: true, key: 'code' } }), {
    message: /no row of nulls\.csv has a value for the key code; nothing was created/,
  })
  await load('people.csv', { into: 'Person' })
  t.match(await load('wrong.csv', { create, relations }), { isComplete: false })
  t.equal(readFileSync(config.model, 'utf8'), before)
  t.match(await people(), [{ ID: 1, name: 'Eve' }], 'a store that existed opens with the model as it was')
  t.match((await load('right.csv', { create, relations })).text, /1 inserted, 1 rejected/)
  rmSync(config.data, { recursive: true })
  rmSync(config.model)
  const lone = { newClass: 'Lone', yes: true, key: 'name', types: { name: 'long' } }
  await t.rejects(load('nulls.csv', { create: lone }), { message: /^--type name=long/ })
  t.notOk(existsSync(config.model))
})

t.test('a store that a failed load would have created is not there', async t => {
  const { load, cwd } = world(t, { 'a.csv': lines('ID,nme', '1,A'), 'b.csv': lines('ID,name', 'x,A') })
  await t.rejects(load('a.csv'), { message: /"nme" is not an attribute/ })
  t.match(await load('b.csv'), { isComplete: false, text: /1 rejected/ })
  t.notOk(existsSync(join(cwd, 'data')))
})
