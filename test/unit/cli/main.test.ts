import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../../engine/output-root.ts'
import packageJson from '../../../package.json' with { type: 'json' }

const person = { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string' } } }
const model = JSON.stringify({ name: 'test', dataClasses: { Person: person } })
const MAP_SIZE = ['--storage-map-size-bytes', '64 MiB']

/** Runs the command in a folder. What it writes gathers in `output`. */
function tesser(t: Test, cwd: string, ...args: string[]) {
  const child = spawn(process.execPath, [fileURLToPath(outputUrl('kernel/cli/main.js')), ...args], {
    cwd,
    env: { PATH: process.env.PATH },
  })
  t.teardown(() => child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.on('data', chunk => (output.out += chunk))
  child.stderr.on('data', chunk => (output.err += chunk))
  return { child, output, end: once(child, 'close').then(([code]) => ({ code, ...output })) }
}

async function outputOf(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = ''
  for await (const chunk of child.stdout!) {
    text += chunk
    const match = pattern.exec(text)
    if (match) return match
  }
  throw new Error(`the process ended without ${pattern}: ${text}`)
}

t.test('--version and --help answer', async t => {
  const cwd = t.testdir({})
  t.strictSame(await tesser(t, cwd, '--version').end, { code: 0, out: `${packageJson.version}\n`, err: '' })
  t.match(await tesser(t, cwd, '--help').end, { code: 0, out: /Examples:[\s\S]*TESSER_CONFIG/, err: '' })
})

t.test('a mistyped command or flag is refused with the nearest one', async t => {
  const cwd = t.testdir({})
  t.match(await tesser(t, cwd, 'start', '--prot', '3').end, { code: 1, err: /Did you mean --port\?/ })
})

t.test('--print-config prints the configuration as JSON', async t => {
  const { code, out } = await tesser(t, t.testdir({}), 'start', '--port', '1234', '--print-config').end
  t.equal(code, 0)
  t.equal(JSON.parse(out).server.port, 1234)
})

t.test('what is wrong is told on standard error without a stack, and the exit code is 1', async t => {
  const cwd = t.testdir({ 'tesser.config.json': '{ "model": "m.json", "sever": {} }' })
  const { code, out, err } = await tesser(t, cwd, 'start', '--port', 'x').end
  t.equal(code, 1)
  t.equal(out, '')
  t.match(
    err,
    /^tesser: the configuration cannot be used:\n.*sever: there is no such option.*\n.*--port: expected an integer/,
  )
  t.notMatch(err, /\n\s+at /)
})

t.test('check tells every problem of the model and changes nothing', async t => {
  const cwd = t.testdir({
    'model.json': JSON.stringify({ name: 'x', dataClasses: { P: { ...person, key: 'id' }, 'Q R': person } }),
  })
  const { code, out } = await tesser(t, cwd, 'check', '--model', 'model.json').end
  t.equal(code, 1)
  t.match(out, /P\.key: there is no attribute "id" in P; did you mean "ID"\?/)
  t.match(out, /Q R: the name may have/)
  t.match(out, /2 problems/)
})

t.test('start serves until a signal, load fills the store, check finds what a new model would lose', async t => {
  const smaller = JSON.stringify({
    name: 'test',
    dataClasses: { Person: { ...person, attributes: { ID: { type: 'long' } } } },
  })
  const cwd = t.testdir({ 'model.json': model, 'smaller.json': smaller, 'p.ndjson': '{"ID":1,"name":"Ada"}\n' })
  const store = ['--model', 'model.json', ...MAP_SIZE]
  t.match(await tesser(t, cwd, 'load', 'p.ndjson', '--into', 'Person', ...store).end, {
    code: 0,
    out: '1 rows read: 1 inserted\n',
  })
  t.match(await tesser(t, cwd, 'check', ...store).end, { code: 0, out: /are all right/ })
  t.match(await tesser(t, cwd, 'check', '--model', 'smaller.json', ...MAP_SIZE).end, {
    code: 1,
    out: /would lose data: .*name/,
  })

  const { child, end } = tesser(t, cwd, 'start', ...store, '--port', '0', '--log-level', 'silent')
  const [, url] = await outputOf(child, /answers at (\S+)/)
  const answer = await (await fetch(`${url}/Person(1)`)).json()
  t.match(answer, { __KEY: '1', name: 'Ada' })
  child.kill('SIGTERM')
  t.match(await end, { code: 0, err: '' })
})

t.test('check knows what plugins add to the model, and tells what roles name that is not there', async t => {
  const roles = (...allowed: object[]) =>
    JSON.stringify({ privileges: [{ privilege: 'hr' }], permissions: { allowed } })
  const cwd = t.testdir({
    'model.json': model,
    'p.ndjson': '{"ID":1,"name":"Ada"}\n',
    'tesser.config.json': JSON.stringify({ model: 'model.json', data: 'store', plugins: ['./plugin.ts'] }),
    'plugin.ts': `
      import { definePlugin } from 'tesser'
      const model = { dataClasses: { Note: ${JSON.stringify(person)} } }
      export default definePlugin({ name: 'notes', kernel: '^1.0.0', model, classes: new URL('./classes.ts', import.meta.url) })`,
    'classes.ts': `
      import { calculated, Entity, exposed } from 'tesser/classes'
      export class PersonEntity extends Entity('Person') {
        @calculated({ type: 'string', stored: true }) get shown() { return String(this.name).toUpperCase() }
        @exposed greet() { return this.shown }
      }`,
    'right.json': roles(
      { applyTo: 'Note', type: 'dataclass', read: ['hr'] },
      { applyTo: 'Person.shown', type: 'attribute', read: ['hr'] },
      { applyTo: 'Person.greet', type: 'method', execute: ['hr'] },
    ),
    'roles.json': roles(
      { applyTo: 'Not', type: 'dataclass', read: ['hr'] },
      { applyTo: 'Person.great', type: 'method', execute: ['hr'] },
    ),
  })
  t.match(await tesser(t, cwd, 'load', 'p.ndjson', '--into', 'Person', ...MAP_SIZE).end, { code: 0 })
  t.match(await tesser(t, cwd, 'check', '--auth-roles-file', 'right.json', ...MAP_SIZE).end, {
    code: 0,
    out: /all right/,
  })
  const { code, out } = await tesser(t, cwd, 'check', ...MAP_SIZE).end
  t.equal(code, 1)
  t.match(out, /roles\.json: permissions\.allowed\.0\.applyTo: there is no dataclass "Not"; did you mean "Note"\?/)
  t.match(out, /roles\.json: .*Person has no function "great"; did you mean "greet"\?/)
  t.match(out, /2 problems/)
  t.match(await tesser(t, cwd, 'check', '--auth-roles-file', 'gone.json', ...MAP_SIZE).end, {
    code: 1,
    err: /there is no roles file .*gone\.json/,
  })
})
