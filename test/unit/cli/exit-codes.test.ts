import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { outputUrl } from '../../../engine/base/output-root.ts'
import { correctedCommand } from '../../../kernel/cli/corrected-command.ts'

/** Exit codes of commands that read and write files, by the table in kernel/cli/README.md. */

t.setTimeout(120_000)

const model = { name: 'test', dataClasses: { Person: { key: 'ID', attributes: { ID: { type: 'long' } } } } }
const FILES = {
  'model.json': JSON.stringify(model),
  'a.csv': 'ID\n1\n',
  'wrong.csv': 'ID,nothing\n1,2\n',
  'bad.csv': 'ID\nx\n',
  'text.xlsx': 'no',
}
const SERVER = ['--url', 'http://127.0.0.1:1']

const CASES: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
  [['load', 'none.csv', '--into', 'Person'], 2, /there is no file/],
  [['load', 'a.csv', '--into', 'Persn'], 2, /there is no dataclass "Persn"/],
  [['load', 'wrong.csv', '--into', 'Person'], 2, /column "nothing" is not an attribute of Person/],
  [['load', 'model.txt', '--into', 'Person'], 2, /does not say its format by its name/],
  [['load', 'text.xlsx', '--into', 'Person'], 2, /is not an Excel file/],
  [
    ['load', 'bad.csv', '--into', 'Person', '--update'],
    1,
    /once it is corrected: npx tesser load bad\.csv\.errors\.ndjson --into Person --update/,
  ],
  [['import', 'none.csv', '--into', 'Person', ...SERVER], 2, /there is no file/],
  [['import', 'a.csv', '--into', 'Person', ...SERVER], 1, /cannot be reached/],
  [['export', 'Person', '--out', 'a.txt', ...SERVER], 2, /does not say its format by its name/],
  [['export', 'Person', '--out', 'a.csv', ...SERVER], 1, /cannot be reached/],
  [['clone', 'none.db'], 2, /none\.db/],
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
