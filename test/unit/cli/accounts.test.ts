import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { outputUrl } from '../../../engine/base/output-root.ts'
import { Directory, KEY_PREFIX, readDirectory } from '../../../kernel/auth/directory.ts'
import { createServer } from '../../../kernel/main.ts'
import { until } from '../../support/base/until.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

/** `tesser user` and `tesser key`. */

const MODEL = JSON.stringify(modelWith({ Person: {} }))

class Shop {
  readonly folder: string
  readonly file: string

  constructor(t: Test) {
    this.folder = t.testdir({ 'model.json': MODEL, 'tesser.config.json': '{ "model": "model.json" }' })
    this.file = join(this.folder, 'tesser.directory.json')
  }

  async tesser(args: string[], input = '') {
    const child = spawn(process.execPath, [fileURLToPath(outputUrl('kernel/cli/main.js')), ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH },
    })
    const output = { out: '', err: '' }
    child.stdout.on('data', chunk => (output.out += chunk))
    child.stderr.on('data', chunk => (output.err += chunk))
    // A line that is too long is not read to its end.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const [code] = (await once(child, 'close')) as [number]
    return { code, ...output }
  }

  get directory(): Directory {
    return new Directory(readDirectory(this.file))
  }
}

t.test('a user is added, changed, listed and removed', async t => {
  const shop = new Shop(t)
  const add = ['user', 'add', 'Ada', '--full-name', 'Ada Lovelace', '--groups', 'Staff, Board', '--roles', 'hr']
  t.match(await shop.tesser([...add, '--password-stdin'], 'correct horse\n'), {
    code: 0,
    out: `Ada was added to ${shop.file}\n`,
  })
  t.equal(statSync(shop.file).mode & 0o777, 0o600, 'no other user can read it')
  t.notOk(readFileSync(shop.file, 'utf8').includes('horse'))
  t.match(await shop.directory.authenticate('ada', 'correct horse'), {
    userName: 'Ada',
    fullName: 'Ada Lovelace',
    groups: ['Staff', 'Board'],
    granted: { roles: ['hr'] },
  })
  t.match(await shop.tesser(['user', 'add', 'ada', '--password-stdin'], 'battery staple'), {
    out: `ada has a new password in ${shop.file} and must log in again\n`,
  })
  t.equal(await shop.directory.authenticate('Ada', 'correct horse'), undefined)
  t.match(await shop.directory.authenticate('Ada', 'battery staple'), { groups: ['Staff', 'Board'] }, 'groups are kept')
  t.match(await shop.tesser(['user', 'list']), { code: 0, out: /^Ada {2}Ada Lovelace {2}Staff {2}Board {2}hr\n$/ })
  t.match(await shop.tesser(['user', 'remove', 'ADA']), { code: 0 })
  t.match(await shop.tesser(['user', 'list']), { code: 0, out: '' })
})

t.test('a list of a file that does not exist says so', async t => {
  const shop = new Shop(t)
  for (const kind of ['user', 'key']) {
    const { code, out, err } = await shop.tesser([kind, 'list', '--auth-directory-file', 'elsewhere.json'])
    t.same({ code, out }, { code: 0, out: '' })
    t.match(err, /^there is no file of users and keys \/.*elsewhere\.json \(auth\.directoryFile\)/)
  }
})

t.test('a key is shown once, works until it expires, and can be revoked', async t => {
  const shop = new Shop(t)
  const { code, out, err } = await shop.tesser([
    'key',
    'create',
    'nightly',
    '--expires',
    '2030-01-01',
    '--privileges',
    'read',
  ])
  const key = out.trim()
  t.equal(code, 0)
  t.equal(out, `${key}\n`, 'nothing else')
  t.equal(err, `nightly was added to ${shop.file}; the key is not shown again\n`)
  t.ok(key.startsWith(KEY_PREFIX))
  t.notOk(readFileSync(shop.file, 'utf8').includes(key))
  t.match(shop.directory.byKey(key, Date.parse('2029-12-31T23:59:59Z')), { granted: { privileges: ['read'] } })
  t.equal(shop.directory.byKey(key, Date.parse('2030-01-01T00:00:00Z')), undefined)
  t.match(await shop.tesser(['key', 'list']), { out: /^nightly {2}until 2030-01-01 {2}read\n$/ })
  t.match(await shop.tesser(['key', 'revoke', 'nightly']), { code: 0 })
  t.equal(shop.directory.byKey(key, 0), undefined)
})

t.test('invalid users and keys are refused, and the file stays as it is', async t => {
  const shop = new Shop(t)
  await shop.tesser(['key', 'create', 'nightly'])
  const before = readFileSync(shop.file, 'utf8')
  // Code 2: a file with such a name would be refused when it is read again.
  const cases: [args: string[], input: string, message: RegExp, code?: number][] = [
    [['user', 'add', 'Ada', '--password-stdin'], 'short', /5 characters; at least 8/],
    [['user', 'add', 'Ada', '--password-stdin'], 'x'.repeat(1025), /more than 1024 bytes/],
    [['user', 'add', 'Ada', '--password-stdin'], `a${'\u0300\u0323'.repeat(80_000)}`, /more than 1024 bytes/],
    [['user', 'add', 'x'.repeat(201), '--password-stdin'], 'correct horse', /200 characters/, 2],
    [['user', 'add', '', '--password-stdin'], 'correct horse', /1 characters/, 2],
    [['user', 'add', 'Ada', '--groups', ',', '--password-stdin'], 'correct horse', /1 characters/, 2],
    [['key', 'create', 'x'.repeat(201)], '', /200 characters/, 2],
    [['key', 'create', 'other', '--expires', '2030-02-30'], '', /2030-02-30 is not a day/],
    [['key', 'create', 'nightlý'], '', /the names "nightly" and "nightlý" are equal in queries/, 2],
    [['user', 'add', 'Ada'], '', /no terminal/],
    [['user', 'remove', 'Nobody'], '', /there is no user Nobody/],
    [['key', 'create', 'Nightly'], '', /the key Nightly already exists/],
    [['key', 'create', 'other', '--expires', 'soon'], '', /soon is not a day/],
    [['key', 'revoke', 'other'], '', /there is no key other/],
  ]
  const refusals = cases.map(async ([args, input, message, expected = 1]) => {
    const { code, err } = await shop.tesser(args, input)
    t.equal(code, expected, args.join(' '))
    t.match(err, message)
    t.notMatch(err, /\n\s+at /, 'no stack')
  })
  await Promise.all(refusals)
  t.equal(readFileSync(shop.file, 'utf8'), before)
})

t.test('invalid hashes and days are refused when the file is read', async t => {
  const shop = new Shop(t)
  const hash = `scrypt$3$8$1$${'A'.repeat(22)}$${'A'.repeat(43)}`
  const keys = [
    { name: 'nightly', hash: '0'.repeat(64), expires: '2027-99-99' },
    { name: 'Nightly', hash: '1'.repeat(64) },
  ]
  writeFileSync(shop.file, JSON.stringify({ users: [{ name: 'Ada', password: hash }], keys }))
  const { code, err } = await shop.tesser(['user', 'list'])
  t.equal(code, 2)
  t.match(err, /hash of Ada cannot be verified: N is 3/)
  t.match(err, /nightly expires on 2027-99-99, which is not a day/)
  t.match(err, /the names "nightly" and "Nightly" are equal in queries/)
})

t.test('an invalid file is refused with all reasons', async t => {
  const shop = new Shop(t)
  writeFileSync(shop.file, JSON.stringify({ users: [{ name: 'Ada', password: 'plain' }], kays: [] }))
  const { code, err } = await shop.tesser(['user', 'list'])
  t.equal(code, 2)
  t.match(err, /\/users\/0\/password/)
  t.match(err, /additional properties/)
})

t.test(
  'roles and privileges that the file of roles does not declare are refused, found by check, and logged at a start',
  async t => {
    const shop = new Shop(t)
    const before = ['key', 'create', 'early', '--roles', 'hrr', '--privileges', 'WebAdmin']
    t.match(await shop.tesser(before), { code: 0 }, 'without a file of roles any name is accepted')
    const roles = {
      restrictedByDefault: true,
      privileges: [{ privilege: 'read' }],
      roles: [{ role: 'hr', privileges: ['read'] }],
    }
    writeFileSync(join(shop.folder, 'roles.json'), JSON.stringify(roles))
    const missing = { code: 1, err: 'tesser: there is no role "hrr"; did you mean "hr"?\n' }
    t.match(await shop.tesser(['key', 'create', 'late', '--roles', 'HR,hrr']), missing)
    t.match(await shop.tesser(['user', 'add', 'Ada', '--roles', 'hrr', '--password-stdin'], 'correct horse'), missing)
    t.match(await shop.tesser(['user', 'add', 'Ada', '--privileges', 'reed', '--password-stdin'], 'correct horse'), {
      code: 1,
      err: 'tesser: there is no privilege "reed"; did you mean "read"?\n',
    })
    t.match(await shop.tesser(['key', 'create', 'late', '--roles', 'HR']), { code: 0 })
    t.match(await shop.tesser(['check']), {
      code: 1,
      out: `${shop.file}: key early: there is no role "hrr"; did you mean "hr"?\n1 problem\n`,
    })

    const log: string[] = []
    const logger = pino({ level: 'warn' }, { write: line => void log.push(JSON.parse(line).msg) })
    const config = loadConfig({ cwd: shop.folder, env: {}, flags: { port: '0', 'storage-map-size-bytes': '64 MiB' } })
    const server = await createServer(config, logger)
    t.teardown(() => server.close())
    const warning = 'key early: there is no role "hrr"; did you mean "hr"?'
    t.ok(log.includes(warning))
    roles.roles[0]!.role = 'staff'
    writeFileSync(join(shop.folder, 'roles.json'), JSON.stringify(roles))
    const isNoticed = () => log.includes('key late: there is no role "HR"')
    t.ok(await until(isNoticed), 'after a change of the roles', { log })

    await server.close()
    const hooks = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'hooks', kernel: '^1.0.0', register() {} })`
    writeFileSync(join(shop.folder, 'hooks.mjs'), hooks)
    const own = { model: 'model.json', plugins: [{ plugin: './hooks.mjs', roles: ['staff'] }] }
    writeFileSync(join(shop.folder, 'tesser.config.json'), JSON.stringify(own))
    const again = await createServer(
      loadConfig({ cwd: shop.folder, env: {}, flags: { port: '0', 'storage-map-size-bytes': '64 MiB' } }),
      logger,
    )
    t.teardown(() => again.close())
    roles.roles[0]!.role = 'clerk'
    writeFileSync(join(shop.folder, 'roles.json'), JSON.stringify(roles))
    const ofPlugin = 'plugin ./hooks.mjs: there is no role "staff"'
    t.ok(await until(() => log.includes(ofPlugin)), 'a plugin keeps its name of a role that has gone', { log })
    t.match(await shop.tesser(['check']), { code: 1, out: ofPlugin })
    writeFileSync(join(shop.folder, 'tesser.config.json'), '{ "model": "model.json" }')

    writeFileSync(shop.file, '{ "users": 3 }')
    t.match(await shop.tesser(['check']), {
      code: 1,
      out: 'users must be array\n1 problem',
    })
  },
)
