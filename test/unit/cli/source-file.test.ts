import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeXlsx } from 'hucre/xlsx'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openSource } from '../../../kernel/cli/source-file.ts'
import { outputUrl } from '../../../engine/base/output-root.ts'
import { loadWorld } from '../../support/commands/load-world.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

/** Files of the standard input and of addresses. */

const model = modelWith({ Person: { name: { type: 'string' } } })
const FILES: Readonly<Record<string, Buffer>> = {
  'a.csv': Buffer.from('ID,name\n1,Ada\n'),
  'b.csv.gz': gzipSync('ID,name\n1,Ada\n'),
  'c.xlsx': Buffer.from(
    await writeXlsx({
      sheets: [
        {
          name: 'S',
          rows: [
            ['ID', 'name'],
            [1, 'Ada'],
          ],
        },
      ],
    } as never),
  ),
  'd.parquet': Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'ID', data: [1] },
        { name: 'name', data: ['Ada'] },
      ],
    }),
  ),
}

t.test('addresses and the standard input are read as files are', async t => {
  const server = createServer((request, response) => {
    const file = FILES[request.url!.slice(1).split('?')[0]!]
    response.writeHead(file ? 200 : 404)
    response.end(file)
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = t.testdir({ temporary: {}, cwd: { 'model.json': JSON.stringify(model) } })
  const [temporary, cwd] = [join(folder, 'temporary'), join(folder, 'cwd')]
  const { TMPDIR } = process.env
  process.env.TMPDIR = temporary
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  for (const name of Object.keys(FILES)) {
    await t.test(name, async t => {
      const { load, people } = await loadWorld(t, model, {})
      const { text } = await load(`${url}/${name}?token=1`)
      t.match(text, /^1 row read: 1 inserted/)
      t.match(await people(), [{ ID: 1, name: 'Ada' }])
      t.same(readdirSync(temporary), [], 'nothing is left')
    })
  }
  const source = await openSource(`${url}/d.parquet`)
  t.ok(readFileSync(source.path).equals(FILES['d.parquet']!))
  source.close()
  await t.rejects(openSource(`${url}/none.csv`), { name: 'InputError', message: /none\.csv answers with status 404/ })
  await t.rejects(openSource(`${url}/d.parquet`, undefined, 10), { message: /d\.parquet has more than 1 KiB/ })
  await t.rejects(openSource('http://127.0.0.1:1/a.csv'), { message: /cannot be reached/ })
  t.same(readdirSync(temporary), [], 'nothing is left')

  const command = fileURLToPath(outputUrl('kernel/cli/main.js'))
  for (const [file, format, wanted] of [
    ['d.parquet', 'parquet', /^1 row read: 1 inserted/],
    ['a.csv', 'csv', /^1 row read: 0 inserted, 1 rejected/],
  ] as const) {
    const given = [
      command,
      'load',
      '-',
      '--format',
      format,
      '--into',
      'Person',
      '--model',
      'model.json',
      '--data',
      'data',
    ]
    const { stdout } = spawnSync(process.execPath, given, { cwd, input: FILES[file], encoding: 'utf8' })
    t.match(stdout, wanted)
  }
  t.same(readdirSync(cwd).sort(), ['data', 'model.json', 'stdin.errors.csv'])
  t.same(readdirSync(temporary), [], 'nothing is left')
})
