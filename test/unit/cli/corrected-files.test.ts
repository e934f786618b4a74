/** The command that `tesser load` prints loads a corrected error file, whatever the form of its source. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type WriteSheet, writeXlsx } from 'hucre/xlsx'
import t from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { entities } from '../../support/commands/load-world.ts'
import { outputUrl } from '../../../engine/base/output-root.ts'

t.setTimeout(120_000)

const SHEETS = [
  {
    name: 'Firms',
    rows: [
      ['Full name', 'Size', 'On'],
      ['A, B', 1.5, new Date('2024-12-25T00:00Z')],
      ['C', '#REF!', new Date('2024-12-26T00:00Z')],
      ['D "E"', 2, new Date('2024-12-27T00:00Z')],
    ],
  },
  { name: 'Towns', rows: [['Name'], ['Bern']] },
] as unknown as WriteSheet[]

const place = (id: number, geometry: string): string =>
  `{"type":"Feature","properties":{"Full Name":"${id}"},"id":${id},"geometry":${geometry}}`

interface Case {
  readonly name: string
  readonly files: Readonly<Record<string, string | Buffer>>
  readonly load: string
  readonly errors: string
  readonly correct: (text: string) => string
  readonly again: RegExp
  readonly dataClass: string
  readonly expected: readonly object[]
}

const cases = async (): Promise<Case[]> => [
  {
    name: 'a sheet of an Excel file',
    files: { 'firms.xlsx': Buffer.from(await writeXlsx({ sheets: SHEETS })) },
    load: "firms.xlsx --sheet '*' --new-class --yes",
    errors: 'firms.xlsx.errors.Firms.csv',
    correct: text => text.replace('"#REF!"', '7.5'),
    again: /^npx tesser load firms\.xlsx\.errors\.Firms\.csv --into Firms /,
    dataClass: 'Firms',
    expected: [
      { fullName: 'A, B', size: 1.5, on: '2024-12-25' },
      { fullName: 'D "E"', size: 2, on: '2024-12-27' },
      { fullName: 'C', size: 7.5, on: '2024-12-26' },
    ],
  },
  {
    name: 'a list in a JSON document',
    files: {
      'db.json': '{"firms":[{"id":1,"Full Name":"A"},\n{"id":2,"Full Name":"B"\n},{"id":2}],"towns":[{"id":1}]}',
    },
    load: 'db.json --path firms --new-class Firm --key id --yes',
    errors: 'db.json.errors.ndjson',
    correct: text => text.replace('"id":2', '"id":3'),
    again: /^npx tesser load db\.json\.errors\.ndjson --into Firm /,
    dataClass: 'Firm',
    expected: [{ id: 1, fullName: 'A' }, { id: 2, fullName: 'B' }, { id: 3 }],
  },
  {
    name: 'GeoJSON',
    files: {
      'places.geojson': `{"type":"FeatureCollection","features":[${place(1, '{"type":"Point","coordinates":[8.5,47]}')},${place(2, '7')}]}`,
    },
    load: 'places.geojson --new-class --column id=nr --yes',
    errors: 'places.geojson.errors.geojsonl',
    correct: text => text.replace('"geometry":7', '"geometry":{"type":"Point","coordinates":[9.5,48]}'),
    again: /^npx tesser load places\.geojson\.errors\.geojsonl --into Places --column id=nr /,
    dataClass: 'Places',
    expected: [
      { nr: 1, fullName: '1', longitude: 8.5, latitude: 47 },
      { nr: 2, fullName: '2', longitude: 9.5, latitude: 48 },
    ],
  },
]

t.test('the printed command loads a corrected error file', async t => {
  const program = `'${process.execPath}' '${fileURLToPath(outputUrl('kernel/cli/main.js'))}'`
  for (const { name, files, load, errors, correct, again, dataClass, expected } of await cases())
    await t.test(name, async t => {
      const cwd = t.testdir({ ...files })
      const run = (command: string) =>
        spawnSync('sh', ['-c', command.replace('npx tesser', program)], {
          cwd,
          encoding: 'utf8',
          env: { PATH: process.env.PATH },
        })
      const first = run(`npx tesser load ${load} --model model.json --data data`)
      t.match(first, { status: 1, stdout: /1 rejected/ }, first.stderr)
      const command = /^after you fix its rows: (.*)$/m.exec(first.stdout)?.[1] ?? ''
      t.match(command, again)
      const path = join(cwd, errors)
      const text = readFileSync(path, 'utf8')
      const corrected = correct(text)
      t.not(corrected, text)
      writeFileSync(path, corrected)
      const second = run(command)
      t.match(second, { status: 0, stdout: '1 row read: 1 inserted\n' }, second.stderr)
      const config = loadConfig({ cwd, env: {}, flags: { model: 'model.json', data: 'data' } })
      t.match(await entities(config, dataClass), expected)
    })
})
