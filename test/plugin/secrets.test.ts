import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../kernel/log.ts'
import { logOwnConsole } from '../../kernel/cli/log-console.ts'
import { installTesser, runTesser } from '../support/commands/author-package.ts'
import { company } from '../support/fixtures/company.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { nastySecrets } from '../support/base/nasty-secrets.ts'

const INDEX = `import { createHash } from 'node:crypto'
import { defineErrors, definePlugin, json, ProtocolError, Type } from 'tesser'

const Errors = defineErrors('ACME', { FAILED: { errCode: 9001, http: 502, message: (what: string) => 'failed with ' + what } })

/** Ways in which a careless author shows a secret. */
const leaks: Record<string, (secret: string, scope: any) => any> = {
  logs(secret, { log }) {
    log.info({ secret, [secret]: { list: [secret] }, options: JSON.stringify({ secret }) }, 'with ' + secret)
    log.error(new Error(secret))
    log.child({ secret }).warn('of a child')
  },
  prints(secret) { console.log(secret, { secret }); console.error(new Error(secret)) },
  encodes(secret, { log }) {
    log.info({ basic: Buffer.from('ada:' + secret).toString('base64'), at: 'http://h/?k=' + encodeURIComponent(secret) })
  },
  throws(secret) { throw new Error('unexpected ' + secret, { cause: new TypeError(secret) }) },
  async rejects(secret) { await 1; throw Object.assign(new Error('late'), { secret }) },
  refuses(secret) { throw Errors.FAILED(secret) },
  async refusesLater(secret) { await 1; throw new ProtocolError({ ...Errors.FAILED(secret).toData() }) },
}
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  options: Type.Object({ secrets: Type.Array(Type.String()), port: Type.Integer(), label: Type.String({ default: 'none' }) }),
  register(scope, { secrets, port, label }) {
    scope.route('/options', { verbs: ['GET'] }, () => json({ hashes: secrets.map(hash), port, label }))
    for (const [name, leak] of Object.entries(leaks)) {
      scope.route('/' + name, { verbs: ['GET'] }, request => {
        const result = leak(secrets[Number(request.transport.header('number'))]!, scope)
        return result ?? json('done')
      })
    }
    console.log('registered with', secrets)
  },
})`

const CLASSES = `import { createHash } from 'node:crypto'
import { DataClass, ds, Entity, event, exposed } from 'tesser/classes'

let secrets: string[] = []
export function configure(options: { secrets: string[] }) {
  ;({ secrets } = options)
  console.log('configured', options)
}

export class Company extends DataClass('Company') {
  @exposed hashes() { return secrets.map(each => createHash('sha256').update(each).digest('hex')) }
  @exposed prints(i: number) {
    console.log(secrets[i], { secret: secrets[i] })
    console.warn(JSON.stringify(secrets[i]))
    console.info('x'.repeat(8_180) + secrets[i])
  }
  @exposed throws(i: number) { throw new Error('unexpected ' + secrets[i], { cause: new TypeError(secrets[i]) }) }
  @exposed throwsLong(i: number) { throw new Error('x'.repeat(16_370) + secrets[i]) }
  @exposed throwsText(i: number) { throw secrets[i] }
  @exposed refuses(i: number) { throw { errCode: 9002, message: 'refused for ' + secrets[i] } }
  @exposed queries(i: number) { return ds.Company.query('nothing-' + secrets[i] + ' = 1').length }
  @exposed async refusesLater(i: number) { await 1; throw { errCode: 9002, message: 'refused for ' + secrets[i] } }
  @exposed async throwsAfter(i: number) { await 1; console.log(secrets[i]); throw new Error('unexpected ' + secrets[i]) }
  @exposed async forgetsOne(i: number) { void (async () => { throw new Error('beside ' + secrets[i]) })(); await new Promise(() => {}) }
  @exposed failsLater(i: number) { setTimeout(() => { throw new Error('later: ' + secrets[i]) }); return 'done' }
}
export class CompanyEntity extends Entity('Company') {
  @event('validateSave') check() {
    const secret = secrets[Number(this.revenues)]!
    if (this.name === 'refused') return { errCode: 9003, message: 'not with ' + secret, extraDescription: { secret } }
    if (this.name === 'queries') ds.Company.query('nothing-' + secret + ' = 1')
    if (this.name === 'throws') throw new Error(secret)
  }
}`

/** Starts a server whose plugin gets every second secret from a variable, and the others from files. */
async function start(t: Test) {
  const folder = t.testdir({ 'index.ts': INDEX, 'classes.ts': CLASSES })
  const env: Record<string, string> = { PORT: '587' }
  const secrets = nastySecrets.map((secret, i) => {
    if (i % 2 === 0) env[`SECRET_${i}`] = secret
    else writeFileSync(join(folder, `secret-${i}`), `${secret}\n`)
    return i % 2 === 0 ? { env: `SECRET_${i}` } : { file: `secret-${i}` }
  })
  /** Lines of the log and answers. */
  const output: string[] = []
  const { console } = globalThis
  t.teardown(() => Object.assign(globalThis, { console }))
  const { ask: askConfigured } = await startConfigured(t, {
    folder,
    env,
    fixture: { rows: {} },
    logger: config => {
      const log = createLogger(config, { write: line => void output.push(line) })
      logOwnConsole(log)
      return log
    },
    config: {
      plugins: [{ plugin: './index.ts', options: { secrets, port: { env: 'PORT' } } }],
      server: { accessLog: true },
      functions: { threads: 1 },
    },
  })
  const ask = async (
    path: string,
    options: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<string> => {
    const { text } = await askConfigured(path, options)
    output.push(text)
    return text
  }
  const post = (path: string, body: unknown) => ask(`/rest/Company${path}`, { body: JSON.stringify(body) })
  return { ask, post, output }
}

/** Texts and names in a JSON text, also those of JSON within its texts. */
function textsIn(json: string): string[] {
  const texts: string[] = []
  try {
    JSON.parse(json, (name, value) => {
      texts.push(name, String(value), ...(typeof value === 'string' ? textsIn(value) : []))
      return value
    })
  } catch {
    // Most texts are no JSON.
  }
  return texts
}

t.test('plugins get values that references name, which no log line and no answer shows', async t => {
  const { ask, post, output } = await start(t)
  const hashes = nastySecrets.map(secret => createHash('sha256').update(secret).digest('hex'))
  t.strictSame(JSON.parse(await ask('/options')), { hashes, port: 587, label: 'none' }, 'register')
  t.strictSame(JSON.parse(await post('/hashes', [])), { result: hashes }, 'configure')

  const answers: [string, string | RegExp][] = [
    ['logs', '"done"'],
    ['prints', '"done"'],
    ['encodes', '"done"'],
    ['throws', /"errCode":\d+/],
    ['rejects', /"errCode":\d+/],
    ['refuses', /failed with \(hidden\)/],
    ['refusesLater', /failed with \(hidden\)/],
  ]
  const called: [string, RegExp][] = [
    ['prints', /^\{\}$|result/],
    ['throws', /Company\.throws/],
    ['throwsLong', /Company\.throwsLong/],
    ['throwsText', /Company\.throwsText/],
    ['refuses', /refused for \(hidden\)/],
    ['refusesLater', /refused for \(hidden\)/],
    ['throwsAfter', /"errCode":1562/],
    ['forgetsOne', /"errCode":1562/],
    ['queries', /"errCode":\d+/],
  ]
  const saved: [string, RegExp][] = [
    ['refused', /not with \(hidden\)/],
    ['queries', /"errCode":\d+/],
    ['throws', /"errCode":\d+/],
  ]
  for (const i of nastySecrets.keys()) {
    for (const [path, answer] of answers)
      t.match(await ask(`/${path}`, { headers: { number: String(i) } }), answer, path)
    for (const [name, answer] of called) t.match(await post(`/${name}`, [i]), answer, name)
    for (const [name, answer] of saved) t.match(await post('?$method=update', { name, revenues: i }), answer, name)
  }
  await post('/failsLater', [0])
  while (!output.some(line => line.includes('later: '))) await new Promise(resolve => setTimeout(resolve, 10))

  t.ok(output.length > 40 * 20, `${output.length} lines`)
  const texts = output.flatMap(textsIn)
  for (const [i, secret] of nastySecrets.entries()) {
    t.strictSame(
      texts.filter(text => text.includes(secret)),
      [],
      `secret ${i} as it is`,
    )
    const inJson = JSON.stringify(secret).slice(1, -1)
    t.strictSame(
      output.filter(text => text.includes(inJson)),
      [],
      `secret ${i} in the bytes`,
    )
    const encoded = Buffer.from(`ada:${secret}`).toString('base64').slice(8, -4)
    t.strictSame(
      output.filter(text => text.includes(encoded)),
      [],
      `secret ${i} in base64`,
    )
  }
  // The start of a value that was cut off.
  for (const [i, secret] of nastySecrets.entries())
    t.notOk(
      texts.some(text => /x{8000}/.test(text) && text.includes(`x${secret.slice(0, 4)}`)),
      `start of secret ${i}`,
    )
})

t.test('commands print no value, and name what a reference lacks', async t => {
  const plugin = (work: string) => `import { definePlugin, Type } from 'tesser'
    export default definePlugin({
      name: 'acme', kernel: '^1.0.0', options: Type.Object({ key: Type.String({ pattern: '^geheim' }) }), ${work}
    })`
  const folder = t.testdir({
    'model.json': JSON.stringify(company.model),
    key: 'geheim-5678\n',
    wrong: 'wrong-geheim-5678\n',
    'register.ts': plugin('register(_, { key }) { throw new Error("cannot use " + key) }'),
    'configure.ts': plugin('classes: new URL("./classes.ts", import.meta.url)'),
    'classes.ts': 'export function configure({ key }) { throw new Error("cannot use " + key) }',
  })
  installTesser(folder)
  const run = (name: string, key: object, ...args: string[]) => {
    const provider = { issuer: 'http://x.org', clientId: 'x', clientSecret: key }
    const plugins = [
      name === 'oidc'
        ? { plugin: 'tesser/plugins/oidc', options: { publicUrl: 'https://x.org', providers: { x: provider } } }
        : { plugin: `./${name}.ts`, options: { key } },
    ]
    const content = { model: 'model.json', data: 'store', plugins, server: { port: 0 } }
    writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify(content))
    return runTesser(folder, ...args)
  }
  const table: [name: string, key: object, args: string[], code: number, output: RegExp][] = [
    // The place of plugin code, and no place of code that has called this server.
    ['register', { file: 'key' }, ['start'], 2, /failed to register: cannot use \(hidden\) \(.+\/register\.ts:\d+\)$/m],
    ['oidc', { file: 'key' }, ['start'], 2, /failed to register: providers\.x\.issuer: .* accepts it for tests$/m],
    [
      'register',
      { env: '' },
      ['check'],
      2,
      /option key: the reference has an empty env; write \{ "env": "VARIABLE" \}/,
    ],
    ['configure', { file: 'key' }, ['start'], 1, /cannot use \(hidden\)/],
    ['configure', { file: 'key' }, ['check'], 1, /cannot use \(hidden\)/],
    ['register', { file: 'key' }, ['start', '--print-config'], 0, /"key": \{\s*"file": "key"/],
    ['register', { file: 'wrong' }, ['check'], 2, /acme: option key must match pattern "\^geheim", in the file wrong/],
    ['register', { file: 'none' }, ['start'], 2, /acme: option key: there is no file .*none; it has to be/],
    ['register', { env: 'NONE' }, ['check'], 2, /acme: option key: the variable NONE is not set; set it in/],
  ]
  for (const [name, key, args, code, expected] of table) {
    const ended = await run(name, key, ...args)
    t.match(ended, { code, output: expected }, `${args} ${JSON.stringify(key)}`)
    t.notMatch(ended.output, /geheim-5678/)
  }
})

t.test('commands that only read the model and declarations need no secrets', async t => {
  const own = { env: 'NONE' }
  const folder = t.testdir({
    'model.json': JSON.stringify(company.model),
    'tesser.config.json': JSON.stringify({
      model: 'model.json',
      connections: { main: { url: own, password: { file: 'none' } } },
      plugins: [{ plugin: './index.ts', options: { key: own, smtp: { password: { file: 'none' } } } }],
    }),
    'index.ts': `import { definePlugin, Type } from 'tesser'
      export default definePlugin({
        name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url),
        options: Type.Object({ key: Type.String({ pattern: '^sk_' }), smtp: Type.Object({ password: Type.String() }) }),
        model: { dataClasses: { Note: { key: 'ID', attributes: { ID: { type: 'long' }, text: { type: 'string' } } } } },
        register() { setInterval(() => {}, 1000); throw new Error('registered') },
      })`,
    'classes.ts': `import { DataClass, exposed } from 'tesser/classes'
      export function configure({ key }) { throw new Error('configured') }
      export class Note extends DataClass('Note') { @exposed noteOf(text: string) { return text } }`,
  })
  installTesser(folder)
  const table: [args: string[], code: number, output: RegExp][] = [
    [['types', '-'], 0, /Note: \{[\s\S]*text: string/],
    [['client', '--out', '-'], 0, /noteOf/],
    [['openapi'], 0, /\/Note\/noteOf/],
    [['start'], 2, /acme: option key: the variable NONE is not set; set it in/],
    [['check'], 2, /acme: option smtp\.password: there is no file .*none; it has to be/],
  ]
  for (const [args, code, output] of table) t.match(await runTesser(folder, ...args), { code, output }, args.join(' '))
})
