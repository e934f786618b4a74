/** Error files have the rows in the form of their source, and a load reads them again, with or without corrections. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { world } from './load-people.ts'

/** Loads a file, corrects its error file, and loads that. */
async function again(
  t: Test,
  files: Record<string, string | Buffer>,
  more: Partial<LoadArguments>,
  correct: (text: string) => string,
) {
  const { load, people, cwd } = world(t, files)
  const [file] = Object.keys(files) as [string]
  const errors = join(cwd, /json$/.test(file) ? 'e.ndjson' : 'e.csv')
  const path = join(cwd, 'right', errors.slice(cwd.length + 1))
  const first = await load(file, { errors, ...more })
  const text = readFileSync(errors, 'utf8')
  const right = path.replace('/right/', '/right.')
  writeFileSync(right, correct(text))
  const second = await load(right.slice(cwd.length + 1), more)
  t.match(second, { isComplete: true }, second.text)
  return { first, text, people: await people() }
}

t.test('rows of CSV stay as they are, whatever is wrong with them', async t => {
  const csv = 'ID;name;woman;note\n1;Ann;maybe;"a;b"\n2;Bob\n3;Cy;1;x;y\n4;D"e;1;\n5;Eve;1;\n'
  const { first, text, people } = await again(t, { 'a.csv': csv }, { columns: { note: null } }, errors =>
    errors.replace('Ann;maybe', 'Ann;ja').replace('2;Bob', '2;Bob;;').replace('1;x;y', '1;x').replace('D"e', 'De'),
  )
  t.match(first.text, /^5 rows read: 1 inserted, 4 rejected\n[^\n]*\nafter you fix its rows: [^\n]* --column note=/)
  t.strictSame(
    text
      .split('\n')
      .map(line => line.replace(/;"(?:[^"]|"")*";/, ';"…";'))
      .sort(),
    [
      '',
      '2;"…";1;Ann;maybe;"a;b"',
      '3;"…";2;Bob',
      '4;"…";3;Cy;1;x;y',
      '5;"…";4;D"e;1;',
      '__LINE;__ERROR;ID;name;woman;note',
    ],
  )
  t.match(text, /^3;"2 fields for 4 columns";/m)
  t.match(people, [
    { ID: 1, name: 'Ann', woman: true },
    { ID: 2, name: 'Bob' },
    { ID: 3, name: 'Cy' },
    { ID: 4, name: 'De' },
    { ID: 5, name: 'Eve' },
  ])
})

t.test('the names of columns are those of attributes if the header does not tell them', async t => {
  const csv = 'Ident,Full name\n1,a very long name\n'
  const columns = { Ident: 'ID', 'Full name': 'name' }
  const { text } = await again(t, { 'a.csv': csv }, { columns }, errors => errors.replace('a very long name', 'short'))
  t.match(text, /^__LINE,__ERROR,ID,name\n2,"name .*",1,a very long name\n$/)
})

t.test('an error file of a file that Excel wrote is one that Excel opens', async t => {
  const csv = Buffer.from('ID;name\r\n1;Z\xfcrich is too long\r\n', 'latin1')
  const { text } = await again(t, { 'a.csv': csv }, {}, errors => errors.replace('Zürich is too long', 'Zürich'))
  t.match(text, /^\uFEFF__LINE;__ERROR;ID;name\n2;".*";1;Zürich is too long\n$/)
})

t.test('rows of JSON stay objects, texts that are none can be corrected', async t => {
  const rows = '{"ID":1,"name":"A","big":9007199254740993,"woman":"maybe"}\n{"ID":2,"name":"B"\n7\n'
  const { text, people } = await again(t, { 'a.ndjson': rows }, {}, errors =>
    errors
      .replace(':"maybe"', ':true')
      .replace(String.raw`\"B\""`, String.raw`\"B\"}"`)
      .replace('"__ROW":"7"', '"ID":7,"name":"S"'),
  )
  t.match(text, /^\{"__LINE":1,"__ERROR":"woman .*","ID":1,"name":"A","big":9007199254740993,"woman":"maybe"\}$/m)
  t.match(text, /^\{"__LINE":2,"__ERROR":".*","__ROW":"\{\\"ID\\":2,\\"name\\":\\"B\\""\}$/m)
  t.match(text, /^\{"__LINE":3,"__ERROR":"a row is a JSON object","__ROW":"7"\}$/m)
  t.match(people, [{ ID: 1, big: '9007199254740993', woman: true }, { ID: 2, name: 'B' }, { ID: 7 }])
})

t.test('an error file that is loaded without corrections is the same again', async t => {
  for (const [file, text] of [
    ['a.csv', 'ID,name\n1,a very long name\n2\n'],
    ['a.ndjson', '{"ID":1,"name":"a very long name"}\n{"ID":2\n'],
  ] as const) {
    const { load, cwd } = world(t, { [file]: text })
    const name = `e.${file.slice(2)}`
    await load(file, { errors: join(cwd, name) })
    await load(name, { errors: join(cwd, `again.${name}`) })
    const rowsIn = (path: string): string[] => {
      const lines = readFileSync(join(cwd, path), 'utf8').split('\n')
      // The second file counts its own lines.
      return lines.map(line => line.replace(/^\d+,|"__LINE":\d+,/, '').replace(/\d fields? for \d columns/, '')).sort()
    }
    t.match(rowsIn(name).join('\n'), /a very long name/)
    t.strictSame(rowsIn(`again.${name}`), rowsIn(name))
  }
})

t.test('an error file has the format that its name says', async t => {
  const { load, cwd } = world(t, { 'a.csv': 'ID,name\n1,a very long name\n' })
  t.match((await load('a.csv', { errors: join(cwd, 'x.ndjson') })).text, /x\.ndjson says why/)
  t.match(JSON.parse(readFileSync(join(cwd, 'x.ndjson'), 'utf8')), {
    line: 2,
    row: { ID: '1', name: 'a very long name' },
  })
  t.notOk(existsSync(join(cwd, 'a.csv.errors.csv')))
})
