import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeXlsx } from 'hucre/xlsx'
import t from 'tap'
import { importFile } from '../../kernel/cli/import.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { names, open } from './importing.ts'

/** `tesser import` sends files to a server. */

t.test('tesser import', async t => {
  const server = await open(t)
  const folder = temporaryFolder(t)
  const [file, errors] = [join(folder, 'a.csv'), join(folder, 'wrong.csv')]
  writeFileSync(file, 'Name,big\nA,9007199254740993\n,2\n')
  const lines: string[] = []
  const notes: string[] = []
  const given = { file, into: 'Company', url: server.url, existing: 'reject', trial: false, errors } as const
  const run = (more: Partial<Parameters<typeof importFile>[0]> = {}): Promise<boolean> =>
    importFile(
      { ...given, columns: { Name: 'name' }, ...more },
      line => lines.push(line),
      line => notes.push(line),
    )
  t.notOk(await run({ trial: true }))
  t.same(lines.splice(0), [
    '2 rows read: 1 would be inserted, 1 rejected',
    `1 row could not be saved; ${errors} says why`,
  ])
  t.notOk(await run())
  t.match(readFileSync(errors, 'utf8'), /^__LINE,__ERROR,Name,big\n3,"name is mandatory[^"]*",,2\n$/)
  t.match(lines.at(-1), /^after you fix its rows: npx tesser import .*wrong\.csv --into Company --column Name=name /)
  await t.rejects(run({ file: errors }), { name: 'InputError', message: /wrong\.csv is the file with the rows; name/ })
  const again = join(folder, 'again.csv')
  t.notOk(await run({ file: errors, errors: again }), 'the reasons are no columns')
  if (existsSync('/dev/full'))
    await t.rejects(run({ errors: '/dev/full', trial: true }), {
      message: /^the file of errors \/dev\/full cannot be written: ENOSPC.*; the rows in lines 3 were not saved$/,
    })
  t.notOk(await run({ errors: join(folder, 'wrong.ndjson'), trial: true }))
  const [object] = readFileSync(join(folder, 'wrong.ndjson'), 'utf8').split('\n')
  t.match(JSON.parse(object!), { line: 3, row: { name: null, big: '2' } })
  lines.splice(3)
  writeFileSync(file, 'Name,big\nB,1\n')
  t.ok(await run())
  t.match(lines, [/1 inserted, 1 rejected/, /wrong/, /^after you fix its rows: /, '1 row read: 1 inserted'])
  t.same(await names(server), ['A', 'B'])
  await t.rejects(run({ file: join(folder, 'none.csv') }), { message: /^there is no file/ })
  await t.rejects(run({ file: join(folder, 'a.txt') }), { message: /does not tell its format/ })
  await t.rejects(run({ url: 'http://127.0.0.1:1' }), { message: /127\.0\.0\.1:1 cannot be reached/ })
  writeFileSync(file, 'above\nName\tbig\nC\t1\n')
  t.ok(await run({ delimiter: 'tab', skipLines: 1 }))
  t.match(notes.at(-1), /^a\.csv: CSV in utf-8, a tab between fields, header in line 2$/)
  writeFileSync(file, 'Name,big\nB,1\n')
  t.ok(await run({ columns: {} }), 'a header is that of the attribute which it would be named')
  t.match(notes[0], /^a\.csv: CSV in utf-8, "," between fields$/)
  await t.rejects(run({ columns: { Name: 'nme' } }), {
    name: 'InputError',
    message: /"nme", for column "Name", is not an attribute/,
  })
  await t.rejects(run({ key: 'wrong' }), { name: 'InputError' })
  await t.rejects(run({ into: 'Compny' }), { name: 'InputError', message: /Compny/ })
  t.notOk(existsSync(join(folder, 'none.csv.errors.csv')))
})

t.test('an Excel file is sent to a server', async t => {
  const server = await open(t)
  const folder = temporaryFolder(t)
  const rows = [
    ['Name', 'Size', 'Founded'],
    ['A\nB', 1.5, new Date('2024-12-25T00:00Z')],
    [],
    ['C', '#REF!'],
    ['', 3],
    ['D', 'x'],
  ]
  writeFileSync(join(folder, 'a.xlsx'), await writeXlsx({ sheets: [{ name: 'S', rows }] }))
  const lines: string[] = []
  const errors = join(folder, 'wrong.csv')
  const given = {
    file: join(folder, 'a.xlsx'),
    into: 'Company',
    url: server.url,
    existing: 'reject',
    trial: false,
  } as const
  t.notOk(await importFile({ ...given, errors }, line => lines.push(line)))
  t.match(lines, [
    '4 rows read: 1 inserted, 3 rejected',
    /wrong\.csv says why/,
    /^after you fix its rows: npx tesser import /,
  ])
  t.match(
    readFileSync(errors, 'utf8')
      .split('\n')
      .map(line => line.replace(/ \(.*?\)/g, '')),
    [
      '__LINE,__ERROR,Name,Size,Founded',
      '4,"cell B4 is the error #REF!","C","#REF!",',
      '5,"name is mandatory and cannot be null",,3,',
      /^6,"size cannot be ""x""; .*","D","x",$/,
      '',
    ],
  )
  t.match((await server.get('/Company(1)')).json, { name: 'A\nB', size: 1.5, founded: '2024-12-25' })
  await t.rejects(
    importFile({ ...given, file: join(folder, 'b.xlsx') }, () => {}),
    { message: /there is no file/ },
  )
})

t.test('lists in JSON documents and GeoJSON are sent to a server', async t => {
  const server = await open(t)
  const folder = temporaryFolder(t)
  const lines: string[] = []
  const notes: string[] = []
  const run = (name: string, text: string, more: Partial<Parameters<typeof importFile>[0]> = {}): Promise<boolean> => {
    const file = join(folder, name)
    writeFileSync(file, text)
    const errors = `${file}.errors`
    return importFile(
      { file, into: 'Company', url: server.url, existing: 'reject', trial: false, errors, ...more },
      line => lines.push(line),
      line => notes.push(line),
    )
  }
  t.ok(await run('a.json', '{"n":1,"firms":[{"name":"A"}]}'))
  t.match(notes, ['a.json: JSON in utf-8, the list firms'])
  t.ok(await run('b.json', '{"a.b":[{"name":"B"}],"c":[{}]}', { path: '/a.b' }))
  await t.rejects(run('c.json', '{"a":[{}],"c":[{}]}'), {
    message: /several lists of objects: a, c; --path chooses one/,
  })
  const feature = (name: string, geometry: string): string =>
    `{"type":"Feature","properties":{"name":"${name}"},"geometry":${geometry}}`
  const features = `${feature('C', 'null')},\n${feature('D', '{"type":"Point","coordinates":[1,2]}')}`
  const errors = join(folder, 'd.geojsonl')
  t.notOk(await run('d.json', `{"type":"FeatureCollection","features":[${features}]}`, { errors }))
  t.match(notes.at(-1), 'd.json: GeoJSON in utf-8')
  t.match(lines.at(-1), /^after you fix its rows: npx tesser import .*d\.geojsonl --into Company --url /)
  const text = readFileSync(errors, 'utf8')
  t.match(text, /^\{"__LINE":2,"__ERROR":"the geometry is a Point, .*","type":"Feature","properties":\{"name":"D"\}/)
  t.ok(await run('d.geojsonl', text, { columns: { geometry: null }, errors: join(folder, 'none') }))
  t.same(await names(server), ['A', 'B', 'C', 'D'])
})
