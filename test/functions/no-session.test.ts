import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { load } from '../../kernel/cli/load.ts'
import { company } from '../support/fixtures/company.ts'
import { insertRows, startServer } from '../support/servers/test-server.ts'

const INDEX = `import { definePlugin, json } from 'tesser'
export default definePlugin({
  name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url),
  register(scope) {
    const write = body => scope.engine.write({ kind: 'save', dataClass: 'City', body: Buffer.from(body), mode: 'update', atomic: false })
    scope.route('/save', { verbs: ['POST'] }, async () => json((await write('{"name":"Oslo"}')).entities[0].failure ?? 'saved'))
  },
})`

const CLASSES = `import { DataClass, ds, Entity, event, exposed, Session } from 'tesser/classes'
export class City extends DataClass('City') {
  @event('restrict') ofUsers() { return Session.isGuest() ? this.query('name != Hidden') : null }
  @exposed asked() { return [Session.isServer(), Session.isGuest(), Session.id.length > 0] }
}
export class CityEntity extends Entity('City') {
  @event('validateSave') check() {
    if (Session.isServer()) {
      Session.storage.seen = this.name
      const { id, userName, idleTimeout, expirationDate, storage, quotas } = Session
      const told = [id, userName, idleTimeout, expirationDate, storage.seen, quotas.nbEntitySets, quotas.currentValues.nbEntitySets]
      const asked = [Session.isGuest(), Session.hasPrivilege('any'), Session.getPrivileges(), Session.restore('x'), Session.clearPrivileges()]
      Session.demote(Session.promote('any'))
      const refused = [() => Session.createOTP(), () => Session.setPrivileges('any'), () => (Session.idleTimeout = 5), () => this.lock()].map(call => {
        try { call(); return 'done' } catch (error) { return (error as Error).message.slice(0, 24) }
      })
      if (this.name === 'Told') this.name = JSON.stringify([told, asked, refused])
      return
    }
    if (!Session.hasPrivilege('geo')) return { errCode: 1, message: 'not by ' + (Session.userName || 'a guest'), seriousError: true }
  }
}`

const plugin = (folder: string) => {
  writeFileSync(join(folder, 'index.ts'), INDEX)
  writeFileSync(join(folder, 'classes.ts'), CLASSES)
  return join(folder, 'index.ts')
}

t.test('Session is empty without a request, and says whether the server itself runs the code', async t => {
  const config = { plugins: [plugin(t.testdir({}))], functions: { threads: 1 } }
  const server = await startServer(t, company, { config })
  await insertRows(server.engine.saves, 'City', [{ name: 'Hidden' }, { name: 'Told' }])
  const { json } = await server.get('/City?$attributes=name')
  const { name } = json.__ENTITIES.find((city: { name: string }) => city.name.startsWith('['))
  const [told, asked, refused] = JSON.parse(name)
  t.same(told, ['', '', 0, '', 'Told', null, 0])
  t.same(asked, [true, false, [], false, true])
  const refusal = 'there is no session for '
  t.same(
    refused,
    [refusal, refusal, refusal, 'done'],
    'calls that need a session are refused; a lock of a new entity fails without one',
  )

  t.same((await server.post('/City/asked')).json, { result: [false, true, true] }, 'of a guest')
  t.match((await server.post('/City?$method=update', { name: 'Rome' })).json.__ERROR[0], { message: 'not by a guest' })
  t.match(
    (await server.post('//save')).json.error.entries[0],
    { message: 'not by a guest' },
    'of code without a request',
  )
  t.equal((await server.get('/City(Hidden)')).status, 404)
})

t.test('tesser load saves rows of a class whose events ask for the session', async t => {
  const folder = t.testdir({ 'rows.json': '[{"name":"Oslo"},{"name":"Bergen"}]' })
  plugin(folder)
  writeFileSync(join(folder, 'model.json'), JSON.stringify(company.model))
  const file = join(folder, 'tesser.config.json')
  writeFileSync(file, JSON.stringify({ model: 'model.json', data: 'store', plugins: ['./index.ts'] }))
  const loaded = await load(
    loadConfig({ file, env: {}, flags: {} }),
    { file: join(folder, 'rows.json'), into: 'City', update: false },
    // biome-ignore lint/suspicious/noExplicitAny: a stream of which only this is used
    { isTTY: false, write: () => true } as any,
  )
  t.equal(loaded, true)
})
