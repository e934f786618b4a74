import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../../engine/base/output-root.ts'
import packageJson from '../../../package.json' with { type: 'json' }

const person = { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string' } } }
const model = JSON.stringify({ name: 'test', dataClasses: { Person: person } })
const MAP_SIZE = ['--storage-map-size-bytes', '64 MiB']

/** Runs the command in a folder, and collects its output in `output`. */
const tesser = (t: Test, cwd: string, ...args: string[]) => tesserBy([], t, cwd, ...args)

/** Runs the command as `tesser` does, started by another command such as `setpriv`. */
function tesserBy(command: readonly string[], t: Test, cwd: string, ...args: string[]) {
  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const [file, ...words] = [...command, process.execPath, program, ...args]
  const child = spawn(file!, words, { cwd, env: { PATH: process.env.PATH, TESSER_PORT: '0' } })
  t.teardown(() => child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.on('data', chunk => (output.out += chunk))
  child.stderr.on('data', chunk => (output.err += chunk))
  return { child, output, end: once(child, 'close').then(([code]) => ({ code, ...output })) }
}

/** Waits until `look` returns a value. */
async function found<T>(look: () => T | null | undefined): Promise<T> {
  for (let waited = 0; waited < 60_000; waited += 50) {
    const result = look()
    if (result) return result
    await delay(50)
  }
  throw new Error('nothing was found within a minute')
}

t.test('--version and --help answer', async t => {
  const cwd = t.testdir({})
  t.strictSame(await tesser(t, cwd, '--version').end, { code: 0, out: `${packageJson.version}\n`, err: '' })
  const help = await tesser(t, cwd, '--help').end
  t.match(help, { code: 0, out: /start \[options\] {2}[\s\S]*Examples:[\s\S]*TESSER_CONFIG/, err: '' })
})

t.test('a mistyped command or flag is refused with a suggestion', async t => {
  const cwd = t.testdir({})
  t.match(await tesser(t, cwd, 'start', '--prot', '3').end, { code: 2, err: /Did you mean --port\?/ })
  t.match(await tesser(t, cwd, 'chek').end, {
    code: 2,
    err: 'tesser: there is no command "chek"; did you mean "check"?\n',
  })
  t.match(await tesser(t, cwd, 'forget', 'x').end, {
    code: 2,
    err: /there is no command "forget"; tesser --help lists them/,
  })
  t.match(await tesser(t, cwd, 'start', 'x').end, { code: 2, err: /"start" takes no arguments; "x" is one/ })
})

t.test(
  'start --check says what a start would do and what would keep it from answering, and changes nothing',
  async t => {
    const cwd = t.testdir({ 'model.json': model, 'wrong.json': '{"dataClasses":[]}' })
    const start = (...args: string[]) => tesser(t, cwd, 'start', '--data', 'store', ...MAP_SIZE, ...args).end
    const answer = await start('--check', '--model', 'model.json', '--port', '0')
    t.match(answer, { code: 0, err: '' })
    t.match(answer.out, /a start would change the store: a new one is made in .*store\n/)
    t.match(
      answer.out,
      /a start would answer at a free port \((uws|uws-node20|node-http)\)\n.* are all right; no store was checked/,
    )
    const other = createServer().listen(0, '127.0.0.1')
    t.teardown(() => other.close())
    await once(other, 'listening')
    const taken = ['--model', 'model.json', '--port', String((other.address() as AddressInfo).port)]
    const tls = ['--server-tls-key-file', 'key.pem', '--server-tls-cert-file', 'cert.pem']
    const refused = await start('--check', ...taken, ...tls)
    t.match(refused, { code: 1, out: /answer at https:\/\/127\.0\.0\.1:\d+\/rest[\s\S]*TLS cannot use key .*key\.pem/ })
    t.match(refused.out, /cannot listen on 127\.0\.0\.1:\d+: another process has port \d+; .*\n2 problems\n/)
    t.notOk(existsSync(join(cwd, 'store')))
    t.match(await start(...taken), { code: 1, err: /^tesser: cannot listen on/ }, 'may succeed another time')
    t.match(
      await start('--model', 'wrong.json', '--port', '0'),
      { code: 2, err: /the model cannot be used/ },
      'can never succeed',
    )
  },
)

t.test(
  'check fails when the given store does not exist, and without --data reports that there is none yet',
  async t => {
    const cwd = t.testdir({ 'model.json': model, empty: {} })
    for (const folder of ['no/such/folder', 'empty']) {
      t.match(await tesser(t, cwd, 'check', '--model', 'model.json', '--data', folder).end, {
        code: 1,
        out: /there is no (such folder|store in this folder), so none was checked; the first start makes one\n1 problem\n/,
      })
    }
    t.match(await tesser(t, cwd, 'check', '--model', 'model.json').end, {
      code: 0,
      out: /config and .*model\.json are all right; no store was checked, there is none in .* yet/,
    })
  },
)

t.test(
  'check and start refuse wrong hosts, origins and proxies, all in one message and before a store is made',
  async t => {
    const cwd = t.testdir({
      'model.json': model,
      'tesser.config.json': JSON.stringify({
        model: 'model.json',
        server: {
          allowedHosts: ['https://x.com'],
          cors: { origins: ['https://x.com/'] },
          trustedProxies: ['localhost'],
        },
      }),
    })
    for (const command of ['check', 'start']) {
      const { code, err } = await tesser(t, cwd, command).end
      t.equal(code, 2)
      for (const problem of [
        /allowedHosts: "https:\/\/x.com" is not a host/,
        /did you mean "https:\/\/x.com"\?/,
        /trustedProxies: "localhost"/,
      ])
        t.match(err, problem, command)
    }
    t.notOk(existsSync(join(cwd, 'data')))
  },
)

t.test('check --plan reports that a start would make the store, whose parent folder must exist', async t => {
  const cwd = t.testdir({ 'model.json': model })
  const plan = ['check', '--plan', '--model', 'model.json', '--data']
  t.match(await tesser(t, cwd, ...plan, 'new').end, {
    code: 0,
    out: /^a start would change the store: a new one is made in .*new\n.*all right; no store was checked/,
  })
  t.match(await tesser(t, cwd, ...plan, 'no/such/folder').end, { code: 1, out: /there is no such folder/ })
  t.notOk(existsSync(join(cwd, 'new')))
})

/** Command that drops the capabilities of root, which may write everywhere; root then owns its files as any user does. */
const WITHOUT_RIGHTS = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []
const hasRights =
  process.getuid === undefined ||
  spawnSync(WITHOUT_RIGHTS[0] ?? 'true', WITHOUT_RIGHTS.slice(1).concat('true')).status !== 0

t.test('missing rights are reported with the folder and the right', async t => {
  if (hasRights) return t.pass('the rights of this user cannot be taken away here')
  const cwd = await mkdtemp(join(tmpdir(), 'tesser-rights-'))
  t.teardown(() => rm(cwd, { recursive: true }))
  const path = (name: string): string => join(cwd, name)
  const store = ['--model', 'model.json', '--data', 'store', ...MAP_SIZE]
  const user = `the user ${process.getuid!()}`
  const unusable = (name: string, reason: string): string =>
    `the folder of the store, ${path(name)}, cannot be used: ${user} has no right ${reason}`
  const tell = async (message: string, ...args: string[]): Promise<void> => {
    const { code, err } = await tesserBy(WITHOUT_RIGHTS, t, cwd, ...args).end
    t.strictSame({ code, err: err.split('\n')[0] }, { code: 1, err: `tesser: ${message}` }, args.join(' '))
  }
  await writeFile(path('model.json'), model)
  await writeFile(path('p.ndjson'), '{"ID":1}\n')
  await writeFile(path('wrong.ndjson'), '{"ID":"x"}\n')
  t.match(await tesser(t, cwd, 'load', 'p.ndjson', '--into', 'Person', ...store).end, { code: 0, err: '' })
  await rm(path('store/server.lock'))
  await chmod(cwd, 0o555)
  const inFolder = `${user} has no right to write in the folder ${cwd}`
  await tell(inFolder, 'key', 'create', 'nightly')
  await tell(inFolder, 'types', '--model', 'model.json')
  const noErrors = `the file of errors wrong.ndjson.errors.ndjson cannot be written: ${inFolder}`
  await tell(noErrors, 'load', 'wrong.ndjson', '--into', 'Person', ...store)
  await tell(unusable('new', `to write in the folder ${cwd}`), 'start', '--model', 'model.json', '--data', 'new')
  await rm(path('store/server.lock'))
  await chmod(path('store'), 0o555)
  const inStore = unusable('store', `to write in the folder ${path('store')}`)
  for (const command of ['start', 'compact']) await tell(inStore, command, ...store)
  await chmod(path('store'), 0o755)
  await chmod(path('store/lock.mdb'), 0o444)
  const toLock = unusable('store', `to write to ${path('store/lock.mdb')}`)
  for (const command of ['start', 'check']) await tell(toLock, command, ...store)
  await chmod(path('model.json'), 0o200)
  const { err } = await tesserBy(WITHOUT_RIGHTS, t, cwd, 'check', ...store).end
  t.match(err, `model file ${path('model.json')} cannot be read: ${user} has no right to read ${path('model.json')}\n`)
  await chmod(cwd, 0o755)
})

t.test('a folder that cannot be used and a damaged store are reported by name, without a stack trace', async t => {
  const cwd = t.testdir({ 'model.json': model, file: 'x', store: { 'data.mdb': 'cut off' } })
  const tries = [
    [['start', '--data', 'file'], 1, /^tesser: the folder of the store, .*file, cannot be used: /],
    [['start', '--data', 'store'], 1, /^tesser: .*data\.mdb has 7 bytes, less than a page: .* Put data\.mdb back/],
  ] as const
  for (const [args, code, err] of tries) {
    const answer = await tesser(t, cwd, ...args, '--model', 'model.json', ...MAP_SIZE).end
    t.match(answer, { code, err })
    t.notMatch(answer.err, /\n\s+at /)
  }
  t.match(await tesser(t, cwd, 'check', '--data', 'store', '--model', 'model.json', ...MAP_SIZE).end, {
    code: 1,
    out: /data\.mdb has 7 bytes/,
  })
})

t.test('output to a pipe that has been closed ends a command quietly', async t => {
  const cwd = t.testdir({ 'model.json': model })
  const cases: readonly (readonly [code: number, ...args: string[]])[] = [
    [141, 'schema', 'config'],
    [141, 'start', '--print-config'],
    [141, 'check', '--model', 'model.json'],
    [141, 'openapi', '--model', 'model.json'],
    // It ends before it notices.
    [0, '--help'],
  ]
  for (const [code, ...args] of cases) {
    const { child, end } = tesser(t, cwd, ...args)
    child.stdout.destroy()
    t.match(await end, { code, err: '' }, args.join(' '))
  }
  const unread = tesser(t, cwd, 'chek')
  unread.child.stderr.destroy()
  t.match(await unread.end, { code: 2, out: '' }, 'messages that are not read')
})

t.test('an empty TESSER_KEY counts as none', async t => {
  const keys: unknown[] = []
  const server = createHttpServer((request, response) => {
    keys.push(request.headers.authorization)
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const url = ['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
  const commands = [['jobs', 'list'], ['migrate'], ['export', 'Person'], ['client']]
  for (const words of commands) await tesserBy(['env', 'TESSER_KEY='], t, t.testdir({}), ...words, ...url).end
  await tesserBy(['env', 'TESSER_KEY=k'], t, t.testdir({}), 'jobs', 'list', ...url).end
  t.strictSame(keys, [...commands.map(() => undefined), 'Bearer k'])
})

t.test('--print-config prints the configuration as JSON', async t => {
  const { code, out } = await tesser(t, t.testdir({}), 'start', '--port', '1234', '--print-config').end
  t.equal(code, 0)
  t.equal(JSON.parse(out).server.port, 1234)
})

t.test(
  'a configuration that cannot be used ends with a message on standard error, no stack, and exit code 2',
  async t => {
    const cwd = t.testdir({ 'tesser.config.json': '{ "model": "m.json", "sever": {} }' })
    const { code, out, err } = await tesser(t, cwd, 'start', '--port', 'x').end
    t.equal(code, 2)
    t.equal(out, '')
    t.match(
      err,
      /^tesser: the configuration cannot be used:\n.*sever: there is no such option.*\n.*--port: expected an integer/,
    )
    t.notMatch(err, /\n\s+at /)
  },
)

t.test('check reports every problem of the model and changes nothing', async t => {
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
    out: '1 row read: 1 inserted\n',
  })
  t.match(await tesser(t, cwd, 'check', ...store).end, { code: 0, out: /are all right/ })
  t.match(await tesser(t, cwd, 'check', '--plan', '--model', 'smaller.json', ...MAP_SIZE).end, {
    code: 1,
    out: /change the store: Person\.name is removed\n.* 1 entity of Person to rewrite \(roughly less than a second\)\n.*would lose data: .*name/,
  })

  t.match(await tesser(t, cwd, 'compact', ...store).end, {
    code: 0,
    out: /data\.mdb (had \d+ KiB and has \d+ KiB now|has \d+ KiB and cannot be made smaller)\n$/,
    err: '',
  })
  t.match(await tesser(t, cwd, 'compact', '--data', 'elsewhere').end, {
    code: 1,
    err: /there is no store in .*elsewhere/,
  })

  const { child, output, end } = tesser(t, cwd, 'start', ...store, '--port', '0')
  const url = await found(() => /"url":"(http:[^"]+)"/.exec(output.out)?.[1])
  t.match(await tesser(t, cwd, 'compact', ...store, '--storage-lock-wait-ms', '0').end, {
    code: 1,
    err: /is in use by process \d+/,
  })
  t.match(await tesser(t, cwd, 'load', 'p.ndjson', '--into', 'Person', ...store, '--storage-lock-wait-ms', '600').end, {
    code: 1,
    err: /^the store in .* is in use by process \d+, .*; waiting for it to end\ntesser: the store in .* is in use/,
  })
  const answer = await (await fetch(`${url}/rest/Person(1)`)).json()
  t.match(answer, { __KEY: '1', name: 'Ada' })
  const second = tesser(t, cwd, 'start', ...store, '--port', '0', '--storage-lock-wait-ms', '300000')
  await found(() => /waiting for it to end/.exec(second.output.out))
  second.child.kill('SIGTERM')
  t.match(await second.end, { code: 0, err: '' }, 'a signal ends a start that waits for the store')
  child.kill('SIGTERM')
  t.match(await end, { code: 0, out: /"msg":"stopping"[\s\S]*"msg":"stopped"/, err: '' })
  for (const line of output.out.trimEnd().split('\n')) t.ok(JSON.parse(line), 'nothing between the lines of the log')
  t.match(output.out, `"explorer":"${url}/explorer/"`)
})

t.test('check knows what plugins add to the model, and reports unknown names in the file of roles', async t => {
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
    code: 2,
    err: /there is no roles file .*gone\.json/,
  })
})
