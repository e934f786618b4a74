import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { backup, listBackups, restore, verify } from '../../kernel/cli/backup.ts'
import { outputUrl } from '../../engine/base/output-root.ts'
import { S3Server } from '../support/services/s3/s3-server.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

/** `$backup`, an extension of Tesser, and the commands beside it. */

const ADMINISTRATE = { auth: { guestsAdministrate: true } }

async function ended(server: TestServer): Promise<Record<string, never>> {
  await until(async () => (await server.get('/$backup')).json.running === null)
  return (await server.get('/$backup')).json
}

t.test('a running server makes backups, which commands list, verify and restore', async t => {
  const folder = temporaryFolder(t)
  const place = join(folder, 'place')
  const server = await startServer(t, company, { folder, config: { ...ADMINISTRATE, backup: { folder: place } } })
  t.same((await server.get('/$backup')).json, { running: null, last: null, next: null, backupCount: 0, backups: [] })
  const begun = await server.post('/$backup')
  t.equal(begun.status, 202)
  t.match(begun.json, { running: { since: /Z$/ } })
  const first = await ended(server)
  t.match(first, { last: { kind: 'full', name: /^\d{8}T\d{9}Z$/, bytes: Number }, backupCount: 1 })

  const { json } = await server.post('/Company?$method=update', { name: 'Later & Co' })
  t.equal(json.name, 'Later & Co')
  await server.post('/$backup')
  t.match(await ended(server), { last: { kind: 'increment' }, backups: [{ kind: 'increment' }, { kind: 'full' }] })
  await server.post('/$backup?$full=true')
  t.match(await ended(server), { last: { kind: 'full' }, backupCount: 3 })

  const lines = await listBackups({ folder: place })
  t.match(lines, [/ full .* entities/, / increment /, / full /])
  const name = lines[1]!.split(' ')[0]!
  const config = (data: string) => loadConfig({ cwd: folder, env: {}, flags: { model: 'model.json', data } })
  const printed: string[] = []
  t.ok(await verify(config('none'), { place: { folder: place }, name }, line => printed.push(line)), printed.join('\n'))
  t.match(printed, [/^backup \d{8}T\d{9}Z is all right: \d+ entities, stamp \d+/])
  t.match(
    await restore(config('restored'), { place: { folder: place }, name }),
    /restored has the state of \d+ entities.* are in .*\/restored\/config$/,
  )
  await t.rejects(restore(config('restored'), { place: { folder: place } }), { message: /restored is not empty/ })
  for (const at of ['noon', '12/06/17', '2026-01-31T09:30+2'])
    await t.rejects(restore(config('other'), { place: { folder: place }, at }), { message: /neither a time, such as/ })
  await t.rejects(restore(config('other'), { place: { folder: place }, at: '2000-01-31 09:30+02' }), {
    message: /the oldest backup in .* is of/,
  })
  await t.rejects(restore(config('other'), { place: { folder: place }, name: 'x' }), {
    message: /there is no backup x in/,
  })
  await t.rejects(listBackups({ folder: join(folder, 'nothing') }), { message: /there are no backups in/ })

  const next = join(folder, 'next')
  mkdirSync(next)
  renameSync(join(folder, 'restored'), join(next, 'store'))
  const other = await startServer(t, { ...company, rows: {} }, { folder: next })
  const found = await other.get('/Company?$filter="name=Later@"')
  t.equal(found.json.__COUNT, 1)
})

t.test('the command makes a backup beside a running server', async t => {
  const folder = temporaryFolder(t)
  const place = join(folder, 'place')
  const server = await startServer(t, company, { folder })
  const config = loadConfig({
    cwd: folder,
    env: {},
    flags: { model: 'model.json', data: server.engine.parts.options.path },
  })
  t.match(await backup(config, { place: { folder: place }, full: false }), /^backup \d{8}T\d{9}Z in .*: full, /)
  t.match(await backup(config, { place: { folder: place }, full: false }), /: increment, /)
  const [first] = readdirSync(join(place, 'backups'))
  t.equal(existsSync(join(place, 'backups', first!, 'config/model.json')), true)
  await t.rejects(backup({ ...config, data: join(folder, 'x') }, { place: { folder: place }, full: false }), {
    message: /^there is no store in/,
  })
})

t.test('a bucket in place of the folder', async t => {
  const folder = temporaryFolder(t)
  const bucket = await S3Server.start(t)
  // The process of the backup inherits the environment.
  const before = { ...process.env }
  t.teardown(() => {
    for (const name of Object.keys(bucket.env)) delete process.env[name]
    Object.assign(process.env, before)
  })
  Object.assign(process.env, bucket.env)
  const place = { folder: bucket.address('of a server'), endpoint: bucket.endpoint }
  const server = await startServer(t, company, { folder, config: { ...ADMINISTRATE, backup: place } })
  await server.post('/$backup')
  t.match(await ended(server), { last: { kind: 'full' }, backupCount: 1 })
  await server.post('/Company?$method=update', { name: 'Later & Co' })
  const data = server.engine.parts.options.path
  const config = loadConfig({
    cwd: folder,
    env: {},
    flags: { model: 'model.json', data, 'backup-folder': place.folder },
  })
  t.equal(config.backup.folder, place.folder)
  t.match(await backup(config, { place, full: false }), /^backup \d{8}T\d{9}Z in s3:.*: increment, /)

  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const run = (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, [program, ...args], { cwd: folder, env: { ...process.env, ...env } })
  const endpoint = ['--endpoint', bucket.endpoint]
  t.match((await run(['backup', 'list', place.folder, ...endpoint])).stdout, / full .*\n.* increment /)
  t.match((await run(['backup', 'verify', place.folder, ...endpoint])).stdout, /^backup \S+ is all right: /)
  const variable = { TESSER_BACKUP_ENDPOINT: bucket.endpoint, TESSER_MODEL: 'model.json' }
  const { stdout } = await run(['restore', place.folder, '--data', 'restored'], variable)
  t.match(stdout, /restored has the state of \d+ entities/)
  const wrong = run(['backup', 'list', place.folder, ...endpoint], { AWS_SECRET_ACCESS_KEY: 'hunter2' })
  await t.rejects(wrong, {
    code: 1,
    stderr: `tesser: ${place.folder} cannot be listed: AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID (403 SignatureDoesNotMatch)\n`,
  })
})

t.test('a schedule makes backups', async t => {
  const folder = temporaryFolder(t)
  const place = join(folder, 'place')
  const server = await startServer(t, company, {
    folder,
    config: { ...ADMINISTRATE, backup: { folder: place, schedule: '* * * * * *' } },
  })
  await until(async () => (await server.get('/$backup')).json.backupCount > 0)
  t.match((await server.get('/$backup')).json, { next: /Z$/ })
})

t.test('a backup that cannot be made is described', async t => {
  const folder = temporaryFolder(t)
  const place = join(folder, 'model.json')
  const server = await startServer(t, company, { folder, config: { ...ADMINISTRATE, backup: { folder: place } } })
  await server.post('/$backup')
  t.match(await ended(server), { last: { error: /^the folder of backups, .*model.json, cannot be made/ } })
  const other = join(folder, 'other')
  const next = await startServer(t, company, { config: { ...ADMINISTRATE, backup: { folder: other } } })
  await next.post('/$backup')
  t.match(await ended(next), { last: { kind: 'full' } })
  const manifest = join(other, 'backups', readdirSync(join(other, 'backups'))[0]!, 'manifest.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"full"', '"Full"'))
  t.match((await next.get('/$backup')).json, { backupCount: 0, problems: [/manifest.json is damaged/] })
  await next.post('/$backup')
  t.match(await ended(next), { last: { kind: 'full' }, problems: [/manifest.json is damaged/] })
})

t.test('refusals', async t => {
  const open = (t: Test, config: Record<string, unknown>): Promise<TestServer> => startServer(t, company, { config })
  const plain = await open(t, { backup: { folder: join(temporaryFolder(t), 'place') } })
  const administrated = await open(t, ADMINISTRATE)
  for (const [server, verb, path, status, message] of [
    [plain, 'GET', '/$backup', 401, '$backup is for administrators: log in, or send a key or a token'],
    [plain, 'POST', '/$backup', 401, '$backup is for administrators: log in, or send a key or a token'],
    [administrated, 'GET', '/$backup', 404, /backup.folder of its configuration names one$/],
    [administrated, 'GET', '/$backup/../etc', 404, /./],
    [administrated, 'GET', '/$backup/etc', 404, '$backup has no parts; etc is one'],
    [administrated, 'PUT', '/$backup', 405, /./],
  ] as const) {
    const answer = await server.send(verb, path)
    t.equal(answer.status, status, `${verb} ${path}`)
    t.match(answer.json.__ERROR[0].message, message)
  }
  for (const [backup, message] of [
    [{ schedule: '0 * * * *' }, /backup.schedule is set, but backup.folder is not/],
    [{ folder: 'x', schedule: 'daily' }, /backup.schedule: "daily" is not a schedule/],
  ] as const)
    await t.rejects(open(t, { backup }), { message })
})

t.test('the model file of a backup is the one of the server', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, {
    folder,
    config: { ...ADMINISTRATE, backup: { folder: join(folder, 'place') } },
  })
  await server.post('/$backup')
  await ended(server)
  const [name] = readdirSync(join(folder, 'place/backups'))
  const copy = readFileSync(join(folder, 'place/backups', name!, 'config/model.json'), 'utf8')
  t.same(JSON.parse(copy), JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')))
})
