import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Config, loadConfig } from '../../config/load-config.ts'
import { addUser } from '../../kernel/cli/accounts.ts'
import { backup } from '../../kernel/cli/backup.ts'
import { dump, undump } from '../../kernel/cli/dump.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'
import { modelWith } from '../support/fixtures/model-with.ts'

/** `tesser dump` beside a running server, and servers of the stores that `tesser undump` makes. */

const DUMP = { withAccounts: false }
const UNDUMP = { leaveOutUnknown: false, withAccounts: false }

async function answers(server: TestServer): Promise<unknown> {
  const names = Object.keys((company.model as { dataClasses: object }).dataClasses)
  const all = await Promise.all(names.map(name => server.get(`/${name}?$top=1000&$orderby=__KEY`)))
  const { text } = await server.get('/$catalog/$all')
  return [text, ...all.map(answer => answer.text)]
}

t.test('a dump and a backup say that entities in databases are not in them', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, { folder })
  await server.close()
  const config = loadConfig({ cwd: folder, env: {}, flags: { model: 'model.json', data: 'store' } })
  const { dataClasses, ...model } = JSON.parse(readFileSync(config.model, 'utf8'))
  const film = { key: 'id', attributes: { id: { type: 'long' } }, storage: { postgres: 'main' } }
  const say = (more: object): void =>
    writeFileSync(config.model, JSON.stringify({ ...model, dataClasses: { ...dataClasses, ...more } }))
  const place = { folder: join(folder, 'backups') }
  for (const [more, said] of [
    [{ Film: film }, 'Film are'],
    [{ Film: film, Actor: film }, 'Film and 1 more dataclass are'],
  ] as const) {
    say(more)
    const sentence = `; not included: the entities of ${said} in a database, which has its own backups`
    t.match(await dump(config, { folder: join(folder, said), ...DUMP }), sentence)
    t.match(await backup(config, { place, full: true }), sentence)
  }
})

t.test('a server of a store that was made from a dump gives the same answers', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, { folder })
  await server.post('/Company?$method=update', { name: 'Later & Co' })
  const config = (data: string): Config => loadConfig({ cwd: folder, env: {}, flags: { model: 'model.json', data } })
  const place = join(folder, 'dump')
  t.match(await dump(config('store'), { folder: place, ...DUMP }), /dump has \d+ entities, .*, stamp \d+$/)
  t.match(await undump(config('made'), { folder: place, ...UNDUMP }), /made has \d+ entities, .* serves it$/)
  await t.rejects(undump(config('made'), { folder: place, ...UNDUMP }), { message: /made is not empty/ })
  const next = join(folder, 'next')
  mkdirSync(next)
  renameSync(join(folder, 'made'), join(next, 'store'))
  const model = JSON.parse(readFileSync(join(place, 'model.json'), 'utf8'))
  const other = await startServer(t, { model, rows: {} }, { folder: next })
  t.same(await answers(other), await answers(server))
  const created = await Promise.all(
    [server, other].map(each => each.post('/Company?$method=update', { name: 'The next one' })),
  )
  t.equal(created[0]!.json.__KEY, created[1]!.json.__KEY)
  t.equal(created[0]!.json.__STAMP, 1)
})

t.test('roles, users and keys come along on request', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, { folder })
  await server.close()
  const at = (name: string, data: string): Config => {
    mkdirSync(join(folder, name), { recursive: true })
    const file = join(folder, name, 'tesser.config.json')
    writeFileSync(file, JSON.stringify({ model: '../model.json', data }))
    return loadConfig({ cwd: folder, env: {}, file, flags: {} })
  }
  const from = at('from', '../store')
  const roles = '{"privileges":[],"roles":[],"permissions":{"allowed":[]}}'
  writeFileSync(join(folder, 'from/roles.json'), roles)
  await addUser(from, 'ada', { passwordFrom: lines('a long password') })
  const [place, plain] = [join(folder, 'dump'), join(folder, 'plain')]
  await dump(from, { folder: place, withAccounts: true })
  await dump(from, { folder: plain, withAccounts: false })
  t.same(readdirSync(join(place, 'accounts')).sort(), ['directory.json', 'roles.json'])
  t.notOk(existsSync(join(plain, 'accounts')))
  const directory = readFileSync(join(folder, 'from/tesser.directory.json'), 'utf8')
  t.notMatch(directory, /a long password/)

  const to = at('to', 'store')
  await undump(to, { folder: place, leaveOutUnknown: false, withAccounts: true })
  t.equal(readFileSync(join(folder, 'to/roles.json'), 'utf8'), roles)
  t.equal(readFileSync(join(folder, 'to/tesser.directory.json'), 'utf8'), directory)
  const third = at('third', 'store')
  writeFileSync(join(folder, 'third/roles.json'), '{}')
  const refused = undump(third, { folder: place, leaveOutUnknown: false, withAccounts: true })
  await t.rejects(refused, { message: /roles\.json would be replaced; move the file, or leave out --with-accounts/ })
  t.same(readdirSync(join(folder, 'third')).sort(), ['roles.json', 'tesser.config.json'])
})

t.test('another model is read from a file', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, { folder })
  const config = (data: string): Config => loadConfig({ cwd: folder, env: {}, flags: { model: 'model.json', data } })
  const place = join(folder, 'dump')
  await dump(config('store'), { folder: place, ...DUMP })
  await server.close()
  const model = modelWith({ Kept: {} })
  const file = join(folder, 'less.json')
  writeFileSync(file, JSON.stringify(model))
  await t.rejects(undump(config('made'), { folder: place, ...UNDUMP, model: file }), {
    message: /the model does not have what the dump has:\n {2}- the dataclass /,
  })
  t.notOk(existsSync(join(folder, 'made')))
  const made = await undump(config('made'), { folder: place, ...UNDUMP, model: file, leaveOutUnknown: true })
  t.match(made, /made has 0 entities, .* --model .*less\.json /)
})

async function* lines(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(`${text}\n`)
}
