/** The manual of typed clients: its examples compile with the client of the demo, and run. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { runCompiler, runTesser } from '../support/commands/author-package.ts'
import { startDemo } from '../support/servers/demo-server.ts'
import { loadModule, writeProject } from '../support/clients/typed-client.ts'

const MANUAL = 'plugins/docs/pages/guide/typed-clients.md'

t.test('the examples of the manual compile, and run one after the other', async t => {
  const blocks = [...readFileSync(MANUAL, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!)
  t.ok(blocks.length > 8, `${blocks.length} examples`)
  const server = await startDemo(t)
  const program = blocks.join('\n').replace('http://127.0.0.1:8080', server.url)
  const folder = t.testdir()
  writeProject(folder, { 'manual.ts': `declare const console: { log(...values: unknown[]): void }\n${program}` })
  const written = await runTesser(folder, 'client', '--url', `${server.url}/rest`)
  t.match(written, { code: 0, output: /client\.ts is written/ })
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
  const { log } = console
  const shown: unknown[][] = []
  console.log = (...values) => void shown.push(values)
  try {
    await loadModule(folder, 'manual.ts')
  } finally {
    console.log = log
  }
  t.match(shown[0], [
    String,
    'Western Europe',
    ['Andorra', 'Belgium', 'Germany', 'Italy', 'Luxembourg', 'Monaco', 'Spain', 'Switzerland'],
  ])
  t.ok(
    shown.some(([text]) => text === 'it is called'),
    'the conflict',
  )
  t.ok(
    shown.some(([attribute, code]) => attribute === 'population' && code === 1568),
    'the refused value',
  )
  t.ok(
    shown.some(([text]) => text === '100 %'),
    'the progress of the upload',
  )
})
