import { join } from 'node:path'
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { hiddenCompaniesPlugin, restrictedPlugin } from '../support/plugins/test-plugins.ts'
import { startServer, type TestAnswer, transports } from '../support/servers/test-server.ts'

/**
 * Saves of entities that a restrict event hides: every answer is that for a key that does not exist, whatever rights the
 * session has. Company 3 is hidden, 99 does not exist. Source: protocol notes, 8.4 and 8.9.
 */

const config = { plugins: [restrictedPlugin], functions: { threads: 1 } }
const closed = (...actions: string[]) => ({
  privileges: [{ privilege: 'hr' }],
  permissions: {
    allowed: [
      { applyTo: 'Company', type: 'dataclass', ...Object.fromEntries(actions.map(action => [action, ['hr']])) },
      { applyTo: 'Company.revenues', type: 'attribute', update: ['hr'] },
    ],
  },
})

const RIGHTS = {
  'no roles': undefined,
  'no right to change': closed('update'),
  'no right to create': closed('create'),
  'neither right': closed('create', 'update'),
  'an attribute that may not be changed': closed(),
}

const BODIES: Record<string, (key: string) => unknown> = {
  'the stamp only': key => ({ __KEY: key, __STAMP: 1 }),
  'an old stamp': key => ({ __KEY: key, __STAMP: 7, name: 'x' }),
  'no stamp': key => ({ __KEY: key, name: 'x' }),
  'a key that is a number': key => ({ __KEY: Number(key), __STAMP: 1, revenues: 1 }),
  'an unknown attribute': key => ({ __KEY: key, __STAMP: 1, nothing: 1 }),
  'a value that does not fit': key => ({ __KEY: key, __STAMP: 1, name: null, code: '?' }),
  'one of several': key => [{ __KEY: '1', __STAMP: 7 }, { __KEY: key, __STAMP: 1, revenues: 5 }, 5],
}

const WAYS = ['update', 'update&$refresh=true', 'update&$atomic=true', 'update&$expand=staff', 'validate']

for (const [rights, roles] of Object.entries(RIGHTS)) {
  t.test(`a hidden entity answers as a missing one: ${rights}`, async t => {
    const server = await startServer(t, company, { config, roles, transport: transports.at(-1)! })
    for (const [name, bodyOf] of Object.entries(BODIES)) {
      for (const way of WAYS) {
        const send = (key: string): Promise<TestAnswer> => server.post(`/Company?$method=${way}`, bodyOf(key))
        const [hidden, missing] = [await send('3'), await send('99')]
        t.equal(hidden.status, missing.status, `${name}, ${way}: ${hidden.text.slice(0, 300)}`)
        t.equal(hidden.text.replaceAll('99', '3'), missing.text.replaceAll('99', '3'), `${name}, ${way}`)
      }
    }
    t.notMatch((await server.post('/Company?$method=update', { __KEY: '3', __STAMP: 1 })).text, /zeta|DE\/3/)
  })
}

t.test('a refusal shows a visible entity', async t => {
  const server = await startServer(t, company, { config, roles: closed('update'), transport: transports.at(-1)! })
  const answer = await server.post('/Company?$method=update', { __KEY: '1', __STAMP: 1 })
  t.equal(answer.status, 401)
  t.match(answer.json, { __KEY: '1', name: 'Acme', __STATUS: { status: 1 }, __ERROR: [{ errCode: 1558 }, {}] })
})

t.test('a restrict event that fails shows nothing to a save', async t => {
  const server = await startServer(t, company, { config, roles: closed('update'), transport: transports.at(-1)! })
  for (const way of WAYS.filter(way => !way.includes('$expand'))) {
    const answer = await server.post(`/Tag?$method=${way}`, { __KEY: '00000000000000000000000000000001', __STAMP: 1 })
    t.equal(answer.status, 500, answer.text)
    t.match(answer.text, /1602/)
    t.notMatch(answer.text, /größe|float/)
  }
})

t.test('$method=validate runs restrict events with the session of the request', async t => {
  const server = await startServer(t, company, { config, transport: transports.at(-1)! })
  t.match(await server.post('/Company?$method=validate', { __KEY: '1', __STAMP: 1, name: 'x' }), {
    status: 200,
    text: '{"ok":true}',
  })
  t.match((await server.get('/Company(1)')).json, { __STAMP: 1, name: 'Acme' })
  t.match(await server.post('/Company?$method=validate', { __KEY: '3', __STAMP: 1 }), {
    status: 404,
    json: { __ENTITIES: [{ __ERROR: [{ errCode: 1543 }, { errCode: 1517 }] }] },
  })
})

t.test('an alias that leads to a hidden entity is compared with null, as it is read', async t => {
  const config = { plugins: [hiddenCompaniesPlugin], functions: { threads: 1 } }
  const server = await startServer(t, company, { config, transport: transports.at(-1)! })
  const { json } = await server.get('/Employee(6)')
  t.equal(json.employerName, null)
  const save = async (employerName: unknown, more: object = {}) =>
    (await server.post('/Employee?$method=update', { __KEY: '6', __STAMP: 1, employerName, ...more })).text
  const refused = await save('no company')
  t.match(refused, /employerName/)
  t.equal(await save('zeta'), refused, 'the name that it has')
  t.notMatch(await save(null), /__ERROR/, 'as it was read')
  const visible = await server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, employerName: 'Acme' })
  t.equal(visible.status, 200, visible.text)
})

t.test('a deletion that hidden entities stop names the relation, and neither them nor their number', async t => {
  const folder = t.testdir({
    'index.ts': `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'discreet', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`,
    'classes.ts': `import { DataClass, event } from 'tesser/classes'
export class Employee extends DataClass('Employee') {
  @event('restrict') nobody() { return this.query('ID = 99') }
}`,
  })
  const config = { plugins: [join(folder, 'index.ts')], functions: { threads: 1 } }
  const server = await startServer(t, company, { config, transport: transports.at(-1)! })
  t.equal((await server.get('/Employee')).json.__COUNT, 0)
  const stopped = await server.post('/Company(1)?$method=delete', undefined)
  t.equal(stopped.status, 409)
  t.strictSame(
    stopped.json.__ERROR.map(({ message }: { message: string }) => message),
    ['entity 1 of Company is still referenced by Employee.employer', 'entity 1 of Company cannot be deleted'],
  )
})
