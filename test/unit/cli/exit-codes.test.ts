import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { outputUrl } from '../../../engine/base/output-root.ts'
import { correctedCommand } from '../../../kernel/cli/row-messages.ts'
import { entities } from '../../support/commands/load-world.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

/** Exit codes of commands that read and write files, by the table in plugins/docs/pages/reference/commands.md. */

const model = modelWith({ Person: {} })
const FILES = {
  'model.json': JSON.stringify(model),
  'a.csv': 'ID\n1\n',
  'wrong.csv': 'ID,nothing\n1,2\n',
  'bad.csv': 'ID\nx\n',
  'text.xlsx': 'no',
  'quote.csv': 'ID,"x\n1,2\n',
  'utf16.csv': Buffer.from('\uFEFFID\n1\n', 'utf16le'),
  'object.json': '{"ID":1}',
  'words.csv': 'paid\nja\nperhaps\n',
}
const SERVER = ['--url', 'http://127.0.0.1:1']

const CASES: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
  [['load', 'none.csv', '--into', 'Person'], 2, /there is no file/],
  [['load', 'a.csv', '--into', 'Persn'], 2, /there is no dataclass "Persn"/],
  [['load', 'wrong.csv', '--into', 'Person'], 2, /column "nothing" is not an attribute of Person/],
  [['load', 'a.csv', '--into', 'Person', '--format', 'txt'], 2, /'txt' is invalid/],
  [['load', 'a.csv', '--into', 'Person', '--relation', 'ID=Person.ID'], 2, /ID is not a relation/],
  [['load', 'quote.csv', '--into', 'Person'], 2, /line 1, the header: a quote is opened and not closed/],
  [['load', 'utf16.csv', '--into', 'Person', '--encoding', 'utf-8'], 2, /is UTF-16; give --encoding utf-16le/],
  [
    ['load', 'object.json', '--into', 'Person'],
    2,
    /object\.json is an object without a list of objects; for an object on each line give --format ndjson\n$/,
  ],
  [['load', 'a.csv', '--into', 'Person', '--skip-lines', '-1'], 2, /give an integer from 0/],
  [
    ['load', 'a.csv', '--into', 'Person', '--delimiter', '::'],
    2,
    /--delimiter "::": give one character, or the word tab/,
  ],
  [['import', 'a.csv', '--into', 'Person', '--delimiter', '::', ...SERVER], 2, /give one character, or the word tab/],
  [['load', 'words.csv', '--new-class', '--yes', '--type', 'paid=bool'], 2, /column "paid" has "perhaps"/],
  [['load', 'words.csv', '--new-class', '--yes', '--type', 'paid=bol'], 2, /"bol"/],
  [['load', 'model.txt', '--into', 'Person'], 2, /does not tell its format/],
  [['load', 'text.xlsx', '--into', 'Person'], 2, /is not an Excel file/],
  [
    ['load', 'bad.csv', '--into', 'Person', '--update'],
    1,
    /after you fix its rows: npx tesser load bad\.csv\.errors\.csv --into Person --update/,
  ],
  [['import', 'none.csv', '--into', 'Person', ...SERVER], 2, /there is no file/],
  [['import', 'a.csv', '--into', 'Person', ...SERVER], 1, /cannot be reached/],
  [['export', 'Person', '--out', 'a.txt', ...SERVER], 2, /does not tell its format/],
  [['export', 'Person', '--out', 'a.csv', ...SERVER], 1, /cannot be reached/],
  [['clone', 'none.db'], 2, /none\.db/],
  [['attach', 'none.db'], 2, /only PostgreSQL databases can be attached/],
  [
    ['attach', 'postgres://h/d', '--numeric', 'decimal(19)'],
    2,
    /--numeric decimal\(19\): give number, string or decimal/,
  ],
  [['attach', 'postgres://h/d', '--connection', 'a b'], 2, /--connection a b: a name has letters/],
  [['attach', 'postgres://h/d', '--key', 'log'], 2, /--key log: give the name of a table or a view, "=" and a column/],
  [['client', '--url', 'nowhere'], 2, /--url: "nowhere" is not an address/],
  [['export', 'Person', '--url', 'localhost:8080'], 2, /--url: "localhost:8080" is not an address such as http/],
  [['client', ...SERVER], 1, /cannot be reached/],
  [['mcp', '--key', 'a\nb', ...SERVER], 2, /^(?!.*a\nb).*the key has characters that are not allowed in a key/s],
]

t.test('exit codes', async t => {
  const cwd = t.testdir(FILES)
  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  for (const [args, code, message] of CASES) {
    const store =
      args[0] === 'load' || args[0] === 'clone'
        ? ['--model', args[0] === 'clone' ? 'c.json' : 'model.json', '--data', 'data']
        : []
    const child = spawn(process.execPath, [program, ...args, ...store], { cwd, env: { PATH: process.env.PATH } })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += chunk))
    const [found] = await once(child, 'close')
    t.equal(found, code, `${args.join(' ')}: ${text}`)
    t.match(text, message)
  }
})

t.test('the command that loads a corrected file', async t => {
  const given = {
    into: 'Order',
    relations: { kunde: "Firm.it's" },
    decimal: ',',
    dates: 'dmy',
    nulls: ['N/A', '-'],
  } as const
  t.equal(
    correctedCommand('load', 'my file.errors.ndjson', { ...given, more: ['--update'] }),
    `npx tesser load 'my file.errors.ndjson' --into Order --relation 'kunde=Firm.it'\\''s' --decimal , --dates dmy --nulls N/A,- --update`,
  )
})

t.test('the printed command loads a corrected file with decimal commas and German dates', async t => {
  const order = {
    nr: { type: 'long' },
    betrag: { type: 'number' },
    am: { type: 'date', simpleDate: true },
    bezahlt: { type: 'bool' },
    firmaID: { type: 'long' },
    firma: { kind: 'relatedEntity', type: 'Firma', foreignKey: 'firmaID' },
  }
  const firm = { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string', unique: true } }
  const dataClasses = { Order: { key: 'nr', attributes: order }, Firma: { key: 'ID', attributes: firm } }
  const cwd = t.testdir({
    'model.json': JSON.stringify({ name: 'shop', dataClasses }),
    'firmen.csv': 'name\nAcme\n',
    'Aufträge Mai.csv':
      'Nr;Betrag;Am;Bezahlt;Kunde\n1;1.234,50;25.12.2024;ja;Acme\n2;2.345,75;3.4.2024;vielleicht;Acme\n',
  })
  const program = `'${process.execPath}' '${fileURLToPath(outputUrl('kernel/cli/main.js'))}'`
  const run = (command: string) =>
    spawnSync('sh', ['-c', command.replace('npx tesser', program)], {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    })
  t.equal(run('npx tesser load firmen.csv --into Firma --model model.json --data data').status, 0)
  const first = run(
    "npx tesser load 'Aufträge Mai.csv' --into Order --column Kunde=firma --relation Kunde=Firma.name --model model.json --data data",
  )
  t.match(first, { status: 1, stdout: /^2 rows read: 1 inserted, 1 rejected/m }, first.stderr)
  const errors = join(cwd, 'Aufträge Mai.csv.errors.csv')
  writeFileSync(errors, readFileSync(errors, 'utf8').replace(';vielleicht', ';nein'))
  const again = /^after you fix its rows: (.*)$/m.exec(first.stdout)![1]!
  t.match(again, / --relation firma=Firma\.name --decimal , --dates dmy /)
  const second = run(again)
  t.match(second, { status: 0, stdout: '1 row read: 1 inserted\n' }, second.stderr)
  const config = loadConfig({ cwd, env: {}, flags: { model: 'model.json', data: 'data' } })
  t.match(await entities(config, 'Order'), [
    { nr: 1, betrag: 1234.5, am: '2024-12-25', bezahlt: true, firmaID: 1 },
    { nr: 2, betrag: 2345.75, am: '2024-04-03', bezahlt: false, firmaID: 1 },
  ])
})
