import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { company } from '../support/fixtures/company.ts'

const PLUGIN = `import { createReadStream } from 'node:fs'
import { definePlugin, json } from 'tesser'
import { fail } from './fail.ts'

const done = json('done')
const faults: Record<string, (request: any, scope: any) => any> = {
  throws() { fail('thrown') },
  async rejects() { await 1; fail('rejected') },
  throwsText() { throw 'only a text' },
  returnsNothing() {},
  async resolvesToNothing() {},
  returnsAnObject() { return { status: 200, body: { a: 1 } } },
  wrongStatus() { return json('x', 99) },
  async wrongHeader() { return json('x', 200, { 'x-a': 'a\\nb' }) },
  rejectsBeside() { Promise.reject(new Error('beside')); return done },
  rejectsWithText() { Promise.reject('only a text'); return done },
  timer() { setTimeout(() => fail('in a timer')); return done },
  interval() { const timer = setInterval(() => { clearInterval(timer); fail('in an interval') }); return done },
  immediate() { setImmediate(() => fail('in an immediate')); return done },
  tick() { process.nextTick(() => fail('in a tick')); return done },
  microtask() { queueMicrotask(() => fail('in a microtask')); return done },
  emitter() { createReadStream('/no/such/file'); return done },
  throughTheKernel(_, scope) { setTimeout(() => scope.engine.call(undefined)); return done },
  hidesItself() {
    const refuse = () => { throw 1 }
    setTimeout(() => { throw new Proxy({}, { get: refuse, getPrototypeOf: refuse }) })
    return done
  },
  nextThrows() {
    return { status: 200, headers: {}, body: { [Symbol.asyncIterator]: () => ({ next() { fail('at once') } }) } }
  },
  unawaited(_, { engine }) {
    const source = { kind: 'keys', keys: ['99'] }
    queueMicrotask(engine.delete.bind(engine, { dataClass: 'Company', source, skip: 0, output: { form: 'array' } }, {}))
    return done
  },
  ignoresBody(request) { request.body(); return done },
  talks() { console.log('said', { a: 1 }); console.warn('warned'); return done },
}
export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  register(scope) {
    for (const [name, fault] of Object.entries(faults)) {
      scope.route(\`/\${name}\`, { verbs: ['GET'] }, request => fault(request, scope))
      scope.service(\`$\${name}\`, { verbs: ['GET'] }, request => fault(request, scope))
    }
    scope.onReady(() => { setTimeout(() => fail('after the start'), 1) })
    scope.onClose(() => fail('at the stop'))
    console.info('registered')
  },
})
`
const FAIL = `export function fail(what: string): never {
  throw new TypeError(what)
}`
interface Line {
  level: string
  msg: string
  plugin?: string
  plugins?: string[]
  path?: string
  err?: { message: string; stack: string }
}

async function start(t: Test) {
  const folder = t.testdir({
    'index.ts': PLUGIN,
    'fail.ts': FAIL,
    'model.json': JSON.stringify(company.model),
    'tesser.config.json': JSON.stringify({
      model: 'model.json',
      plugins: ['./index.ts'],
      server: { port: 0 },
      storage: { mapSizeBytes: '64 MiB', memoryBytes: 0 },
    }),
  })
  const child = spawn(process.execPath, [fileURLToPath(outputUrl('kernel/cli/main.js')), 'start'], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  const lines = (): Line[] =>
    output
      .split('\n')
      .filter(line => line.startsWith('{') && line.endsWith('}'))
      .map(line => JSON.parse(line))
  /** Waits for a line that satisfies `isIt`. */
  const line = async (isIt: (line: Line) => boolean): Promise<Line> => {
    for (;;) {
      const found = lines().find(isIt)
      if (found) return found
      await once(child.stdout, 'data')
    }
  }
  const { url } = (await line(({ msg }) => msg === 'listening')) as Line & { url: string }
  const logged = (level: string): Line[] => lines().filter(each => each.level === level)
  return { child, folder, url, line, logged, clear: () => (output = '') }
}

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}

t.test('plugin code on the kernel side cannot take the server down', async t => {
  const { child, folder, url, line, logged: loggedAs, clear } = await start(t)
  t.match(await line(({ msg }) => msg === 'registered'), { level: 'info', plugin: 'acme' })
  t.match(await line(({ err }) => err?.message === 'after the start'), { plugin: 'acme', level: 'error' })

  const answered: [string, RegExp][] = [
    ['throws', /^thrown$/],
    ['rejects', /^rejected$/],
    ['returnsNothing', /returned undefined; return json\(value\)/],
    ['resolvesToNothing', /returned undefined; return json\(value\)/],
    ['returnsAnObject', /returned \{ status: 200, body: \{ a: 1 \} \}/],
    ['wrongStatus', /status 99/],
    ['wrongHeader', /x-a/],
  ]
  for (const [name, message] of answered) {
    for (const path of [`/${name}`, `/rest/$${name}`]) {
      clear()
      const answer = await fetch(url + path)
      t.equal(answer.status, 500, path)
      t.match(await answer.json(), { __ERROR: [{ errCode: 1585 }] })
      const logged = await line(({ err }) => message.test(err?.message ?? ''))
      if (!/^wrong/.test(name)) t.match(logged, { level: 'error', plugin: 'acme', path })
      if (/throws|rejects/.test(name)) {
        t.ok(logged.err!.stack.includes(`${join(folder, 'fail.ts')}:2:9)`), logged.err!.stack)
        t.ok(logged.err!.stack.includes(`${join(folder, 'index.ts')}:`), logged.err!.stack)
      }
    }
  }
  t.equal((await fetch(`${url}/throwsText`)).status, 500)

  const later: [string, RegExp, object][] = [
    ['rejectsBeside', /^beside$/, { plugin: 'acme' }],
    ['rejectsWithText', /only a text/, { plugins: ['acme'] }],
    ['timer', /in a timer/, { plugin: 'acme' }],
    ['interval', /in an interval/, { plugin: 'acme' }],
    ['immediate', /in an immediate/, { plugin: 'acme' }],
    ['tick', /in a tick/, { plugin: 'acme' }],
    ['microtask', /in a microtask/, { plugin: 'acme' }],
    ['emitter', /ENOENT/, { plugins: ['acme'] }],
    ['throughTheKernel', /undefined/, { plugin: 'acme' }],
    ['hidesItself', /was thrown|cannot be inspected/, { plugins: ['acme'] }],
    ['unawaited', /99/, { plugins: ['acme'] }],
  ]
  for (const [name, message, expected] of later) {
    clear()
    t.equal((await fetch(`${url}/${name}`)).status, 200, name)
    const logged = await line(({ err }) => message.test(err?.message ?? ''))
    t.match(logged, { level: 'error', msg: /outside of a request/, ...expected }, name)
  }
  clear()
  await t.rejects(fetch(`${url}/nextThrows`), 'the connection ends')
  t.match(await line(({ err }) => err?.message === 'at once'), { level: 'error', plugin: 'acme' })
  clear()
  t.equal((await fetch(`${url}/ignoresBody`, { headers: { 'content-encoding': 'gzip' } })).status, 200)
  await fetch(`${url}/talks`)
  t.match(await line(({ msg }) => msg === 'said { a: 1 }'), { level: 'info', plugin: 'acme' })
  t.match(await line(({ msg }) => msg === 'warned'), { level: 'warn', plugin: 'acme' })
  t.strictSame(loggedAs('error'), [], 'a refused body that the plugin does not await is not an error')

  t.equal((await fetch(`${url}/rest/$catalog`)).status, 200, 'the server still serves')
  t.equal(await stop(child), 0)
  t.match(await line(({ err }) => err?.message === 'at the stop'), { plugin: 'acme' }, 'a failure during the stop')
})
