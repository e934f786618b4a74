import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type WriteSheet, writeXlsx } from 'hucre/xlsx'
import t, { type Test } from 'tap'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { loadSheets } from '../../../kernel/cli/load-sheets.ts'
import { loadWorld } from '../../support/commands/load-world.ts'

/** `tesser load --sheet '*'`: a dataclass for each sheet. */

const SHEETS = [
  { name: 'swiss towns', rows: [['Name'], ['Bern'], ['Chur']] },
  { name: 'Cover', rows: [['Report']] },
  { name: 'Person', rows: [['x'], [1]] },
  {
    name: 'Sums',
    rows: [
      ['n', 'm'],
      [1, 2],
      [3, '#REF!'],
    ],
  },
] as unknown as WriteSheet[]

async function world(t: Test) {
  const model = { name: 'm', dataClasses: { Person: { key: 'ID', attributes: { ID: { type: 'long' } } } } }
  const content = await writeXlsx({ sheets: SHEETS })
  const { cwd, config, entities } = loadWorld(t, model, { 'a.xlsx': Buffer.from(content), 'a.csv': 'x\n1\n' })
  const notes: string[] = []
  const run = async (file: string, more: Partial<LoadArguments>) => {
    const output = new PassThrough({ encoding: 'utf8' })
    const settings = { file: join(cwd, file), update: false, errors: join(cwd, 'bad.ndjson'), ...more }
    const dialog = { print: (line: string) => notes.push(line), ask: async () => undefined }
    const isComplete = await loadSheets(config, settings, output as never, undefined, dialog)
    output.end()
    return { isComplete, text: (await output.toArray()).join('') }
  }
  return { cwd, entities, notes, run }
}

t.test('each sheet with rows becomes a dataclass of its name', async t => {
  const { cwd, entities, notes, run } = await world(t)
  const { isComplete, text } = await run('a.xlsx', { create: { newClass: true, yes: true } })
  t.equal(isComplete, false, 'one sheet is refused, and a row')
  t.match(text, /2 rows read: 2 inserted\n.*\n2 rows read: 1 inserted, 1 rejected\n/)
  t.match(notes.join('\n'), /^sheet "Person": .*model\.json has a dataclass Person already/m)
  t.match(await entities('SwissTowns'), [{ name: 'Bern' }, { name: 'Chur' }])
  t.match(await entities('Sums'), [{ n: 1, m: 2 }])
  t.match(readFileSync(join(cwd, 'bad.Sums.ndjson'), 'utf8'), /cell B3 is the error #REF!/)
  t.notOk(existsSync(join(cwd, 'bad.SwissTowns.ndjson')))
})

t.test('options and files for one sheet are refused', async t => {
  const { run } = await world(t)
  const create = { newClass: true, yes: true } as const
  const cases: readonly (readonly [string, Partial<LoadArguments>, RegExp])[] = [
    ['a.xlsx', { into: 'Person' }, /give --new-class without a name$/],
    ['a.xlsx', { create: { newClass: 'Firm' } }, /give --new-class without a name$/],
    ['a.xlsx', { create: { ...create, key: 'n' } }, /--key are for one sheet/],
    ['a.xlsx', { create: { ...create, types: { n: 'string' } } }, /--type, .* for one sheet/],
    ['a.csv', { create }, /--sheet '\*' reads an Excel file/],
    ['none.xlsx', { create }, /there is no file/],
  ]
  for (const [file, more, message] of cases) await t.rejects(run(file, more), { name: 'InputError', message })
})
