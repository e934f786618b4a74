import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { RowTarget } from '../../../engine/row-target.ts'
import { openEngine } from '../../../engine/index.ts'
import { engineOptions } from '../../../kernel/main.ts'
import { entities, loadWorld } from '../../support/commands/load-world.ts'

/** `tesser load --new-class`. */

const person = { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string' } } }
const model = { name: 'test', dataClasses: { Person: person } }
const world = (t: Test, files: Record<string, string | Buffer>) => loadWorld(t, model, files)

t.test('a dataclass is proposed for a file, created after a yes, and loaded', async t => {
  const file = 'City name;Founded;Country\nBern;1.8.1191;CH\nZürich;25.12.1218;CH\n'
  const { load, config, cwd } = world(t, { 'cities.csv': file })
  const create = { newClass: 'City' } as const
  const before = readFileSync(config.model, 'utf8')
  await t.rejects(load('cities.csv', { create }), {
    message: /^nothing was created, because you have to confirm it: use --yes/,
  })
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
    [{ types: { size: '' } }, /^--type size=: give a type such as/],
    [{ columns: { Nr: 'x' } }, /there is no column "Nr"/],
    [{ columns: { nr: 'a b' } }, /may have letters, digits and "_" only/],
    [{ key: 'x' }, /no column becomes the attribute "x"/],
    [{ newClass: 'not' }, /is a word of the query language/],
  ] as const
  for (const [more, message] of wrong)
    await t.rejects(load('old towns.csv.gz', { create: { ...create, newClass: 'Town', ...more } }), { message })
  await t.rejects(load('empty.csv', { create }), { message: /is empty: it has no columns for a dataclass/ })
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
    ['a.csv', { Tag: 'duration' }, /^--type tag=duration: column "Tag" has "1\.2\.2024"/],
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
    '{"id":7,"first name":"Ada","born":"1815-12-10","zip":"01234","seen":"2025-01-01 10:00:00+02"}\n{"id":8,"first name":"Bob","__STAMP":3}\n'
  const { load, config, cwd } = world(t, { 'people.ndjson': rows, 'more.json': '[{"id":9,"first name":"Eve"}]' })
  rmSync(join(cwd, 'model.json'))
  await load('people.ndjson', { create: { newClass: 'Human', yes: true } })
  t.match(JSON.parse(readFileSync(config.model, 'utf8')), { name: 'human', dataClasses: { Human: { key: 'id' } } })
  t.match(await load('more.json', { into: 'Human' }), { text: '1 row read: 1 inserted\n' })
  t.match(await entities(config, 'Human'), [
    { id: 7, firstName: 'Ada', born: '1815-12-10', zip: '01234', seen: '2025-01-01T08:00:00.000Z' },
    { id: 8, firstName: 'Bob', born: null },
    { id: 9, firstName: 'Eve' },
  ])
})

t.test('a value behind the sample that the proposed type would change is a rejected row', async t => {
  const behind: readonly (readonly [row: Record<string, string>, reason: string])[] = [
    [{ zip: '10501', day: '2025-01-02', num: '2.5', dur: '09:00:00' }, 'kept'],
    [{ zip: '00501' }, 'zip: long'],
    [{ zip: '+5' }, 'zip: long'],
    [{ zip: '1e3' }, 'zip: long'],
    [{ zip: '12.0' }, 'zip: long'],
    [{ day: '2025-01-01 22:00:00-05' }, 'day: date without a time'],
    [{ num: '12345678901234567890' }, 'num: number'],
    [{ num: '1e-400' }, 'num: number'],
    [{ dur: '08:30:00.1239' }, 'dur: duration'],
    [{ zip: 'N/A' }, 'zip: long'],
  ]
  const usual = { zip: '10115', day: '2025-01-01', num: '1.5', dur: '08:30:00' }
  const rows = [...Array.from({ length: 10_000 }, () => usual), ...behind.map(([row]) => ({ ...usual, ...row }))]
  const csv = `zip,day,num,dur\n${rows.map(row => `${Object.values(row).join(',')}\n`).join('')}`
  const isNumber = (text: string): boolean => /^-?[1-9][\d.]*(e.*)?$/.test(text)
  const json = ([name, text]: [string, string]): string => `"${name}":${isNumber(text) ? text : `"${text}"`}`
  const ndjson = rows.map(row => `{${Object.entries(row).map(json).join(',')}}\n`).join('')
  const { load } = world(t, { 'a.csv': csv, 'b.ndjson': ndjson })
  const check = ({ text, rejected }: Awaited<ReturnType<typeof load>>, same: readonly string[] = []) => {
    const wrong = behind.filter(([row], i) => i > 0 && !same.includes(row.zip!))
    t.match(text, `${rows.length} rows read: ${rows.length - wrong.length} inserted, ${wrong.length} rejected\n`)
    t.strictSame(
      rejected.map(({ errors: [reason] }) => reason.slice(0, reason.indexOf(','))),
      wrong.map(([, reason]) => reason),
    )
  }
  check(await load('a.csv', { create: { newClass: 'A', yes: true } }))
  // The integers 1000 and 12 of JSON.
  check(await load('b.ndjson', { create: { newClass: 'B', yes: true } }), ['1e3', '12.0'])
  const { restore } = t.intercept(RowTarget.prototype, 'insert', { value: () => Promise.reject(new Error('no space')) })
  await t.rejects(load('a.csv', { create: { newClass: 'C', yes: true } }), { message: /--resume continues$/ })
  restore()
  check(await load('a.csv', { into: 'C', resume: true }))
})

t.test('values of several types in one column of JSON are texts, as they are written', async t => {
  const rows = [
    '{"id":1,"v":1.10,"big":9223372036854775808,"far":12345678901234567890.5,"o":{"n":9007199254740993}}',
    '{"id":2,"v":"0042","big":1,"far":0.1,"o":{"n":1}}',
    '{"id":3,"v":true,"big":null,"far":1,"o":[1]}',
    '{"id":4,"v":{"a": 9007199254740993},"big":-5,"far":null}',
    '{"id":5,"v":[1,2]}',
    '{"id":6,"v":null}',
  ]
  const { load, config } = world(t, { 'a.ndjson': rows.join('\n'), 'a.json': `[${rows.join(',\n')}]` })
  for (const file of ['a.ndjson', 'a.json']) {
    const name = file === 'a.json' ? 'A' : 'B'
    const { text, notes, rejected } = await load(file, { create: { newClass: name, yes: true } })
    t.match(text, /^6 rows read: 6 inserted\n/, JSON.stringify(rejected))
    t.match(notes, /^v: values other than texts are kept as texts, as 1\.1\.$/m)
    t.match(notes, /^big: values other than texts are kept as texts, as 9223372036854775808\.$/m)
    t.match(notes, /^o: numbers in objects are doubles, which have fewer digits than 9007199254740993\.$/m)
    t.strictSame(
      (await entities(config, name)).map(({ id, v, big, far, o }) => [id, v, big, far, o]),
      [
        [1, '1.10', '9223372036854775808', '12345678901234567890.5', { n: 9007199254740992n }],
        [2, '0042', '1', '0.1', { n: 1 }],
        [3, 'true', null, '1', [1]],
        [4, '{"a": 9007199254740993}', '-5', null, null],
        [5, '[1,2]', null, null, null],
        [6, null, null, null, null],
      ],
    )
    const kept = await load(file, { create: { newClass: `${name}2`, yes: true, types: { o: 'string' } } })
    t.match(kept.text, /^6 rows read: 6 inserted\n/)
    t.match(await entities(config, `${name}2`), [{ o: '{"n":9007199254740993}' }])
  }
})

t.test('rows that cannot be read are announced, and a file of them makes no dataclass', async t => {
  const { load, config, cwd } = world(t, {
    'a.csv': 'n,x\na,1\nb\nc,2\n"d,3\n',
    'b.ndjson': '{"n":1}\n[1]\n{"n":2\n',
    'title.csv': 'Airports\nZRH,1\nBRN,2\n',
    'one.ndjson': '[1]\n',
  })
  const create = { newClass: 'A', yes: true } as const
  const before = readFileSync(config.model, 'utf8')
  const message =
    /^no row of title\.csv can be read: line 2: 2 fields for 1 column; is line 1 the header\? --skip-lines/
  await t.rejects(load('title.csv', { create }), { name: 'InputError', message })
  await t.rejects(load('one.ndjson', { create }), { message: /is empty: it has no columns for a dataclass/ })
  t.equal(readFileSync(config.model, 'utf8'), before)
  t.notOk(existsSync(join(cwd, 'data')))
  const { notes, text } = await load('a.csv', { create })
  t.match(
    notes,
    /^2 rows cannot be read and will be rejected: line 3: 1 field for 2 columns; line 5: a quote is opened/m,
  )
  t.match(text, /^4 rows read: 2 inserted, 2 rejected/)
  const json = await load('b.ndjson', { create: { newClass: 'B', yes: true } })
  t.match(json.notes, /^2 rows cannot be read and will be rejected: line 2: a row is a JSON object; line 3: /m)
  t.match(json.text, /^3 rows read: 1 inserted, 2 rejected/)
})

t.test('digits of CSV that a number would lose', async t => {
  const { load, config } = world(t, {
    'a.csv':
      'mixed,long,places,measured,tiny\n9007199254740993,1.5,0.1234567890123456789,0.10000000000000001,1e-400\n1.5,123456789012345678901.5,0.1,12.300000000000001,1\n',
    'times.csv': 'at,took\n2024-12-25 13:30:00.123456,00:00:01.0005\n',
    'commas.tsv': 'at\ttook\n2024-12-25 13:30:00,1234567\t00:00:01,2509\n',
  })
  const { notes } = await load('a.csv', { create: { newClass: 'A', yes: true } })
  t.match(notes, /mixed +mixed +decimal\(1\)/)
  t.match(notes, /measured +measured +number/)
  t.match(await entities(config, 'A'), [
    { long: '1.5', places: '0.1234567890123456789', measured: 0.1, tiny: '1e-400' },
    { long: '123456789012345678901.5', places: '0.1', measured: 12.300000000000001, tiny: '1' },
  ])
  const times = await load('times.csv', { create: { newClass: 'T', yes: true } })
  t.match(times.notes, /^at: seconds have three places, not as many as 2024-12-25 13:30:00\.123456\.$/m)
  t.match(times.notes, /^took: seconds have three places, not as many as 00:00:01\.0005\.$/m)
  const commas = await load('commas.tsv', { create: { newClass: 'C', yes: true } })
  t.match(commas.notes, /^at: seconds have three places, not as many as 2024-12-25 13:30:00,1234567\.$/m)
  t.match(commas.notes, /^took: seconds have three places, not as many as 00:00:01,2509\.$/m)
})

t.test('a store that is in use is found before the model is changed', async t => {
  const { load, config } = world(t, { 'a.csv': 'x\n1\n' })
  const before = readFileSync(config.model, 'utf8')
  const engine = await openEngine(engineOptions(config))
  await t.rejects(load('a.csv', { create: { newClass: 'A', yes: true } }), { message: /in use|another process|locked/ })
  await engine.close()
  t.equal(readFileSync(config.model, 'utf8'), before)
})

t.test('types are shown beside columns with long names', async t => {
  const column = `${'a very long title '.repeat(8)}end`
  const { load } = world(t, { 'a.csv': `${column},${column}\n1,x\n` })
  const { notes } = await load('a.csv', { create: { newClass: 'A', yes: true } })
  t.match(notes, /^ {2}a very long title a very long title… {2}aVeryLongTitle\w+… +long +indexed +0 +1$/m)
})
