/** `plugins/docs/pages/guide/roles.md` and the step of `plugins/docs/pages/guide/model.md` about roles: servers with these files answer as the pages say. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { hashKey } from '../../kernel/auth/directory.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { startDemo } from '../support/servers/demo-server.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

const KEY = `tesser_${'k'.repeat(40)}`
const GUEST = undefined

interface Case {
  readonly path: string
  readonly key: string | undefined
  readonly status: number
  readonly says?: RegExp
  readonly body?: object
}

const save = (dataClass: string, body: object) => ({ path: `${dataClass}?$method=update`, body })
const movie = 'Movie?$attributes=title,worldwideGross,imdbRating&$top=1'

t.test('the roles of the example answer as the page says', async t => {
  const folder = temporaryFolder(t)
  const [, roles] = /^```json\n(.*?)^```$/ms.exec(readFileSync('plugins/docs/pages/guide/roles.md', 'utf8'))!
  const files = { roles: join(folder, 'roles.json'), directory: join(folder, 'directory.json') }
  writeFileSync(files.roles, roles!)
  writeFileSync(
    files.directory,
    JSON.stringify({ keys: [{ name: 'archive', hash: hashKey(KEY), privileges: [], roles: ['archivist'] }] }),
    { mode: 0o600 },
  )
  const { url } = await startDemo(t, { 'auth-roles-file': files.roles, 'auth-directory-file': files.directory })
  const { body: first } = await request(`${url}/rest/Movie?$filter="title=Jaws"&$attributes=title`)
  const [jaws] = ((await first.json()) as { __ENTITIES: { __KEY: string; __STAMP: number }[] }).__ENTITIES
  const cases: readonly Case[] = [
    { path: 'Movie?$orderby=worldwideGross', key: GUEST, status: 404 },
    { path: 'Movie?$orderby=worldwideGross', key: KEY, status: 200 },
    { path: movie, key: GUEST, status: 404 },
    { path: movie, key: KEY, status: 200, says: /"worldwideGross":\d/ },
    { path: '$catalog/Movie', key: GUEST, status: 200, says: /^(?!.*worldwideGross)/ },
    { path: 'Border', key: GUEST, status: 404 },
    { path: 'Country(FR)/borders', key: GUEST, status: 404 },
    { path: 'Border', key: KEY, status: 404 },
    {
      ...save('Movie', { title: 'New', releaseDate: '2026-01-31' }),
      key: GUEST,
      status: 401,
      says: /"errCode":15(?:58|59|60)/,
    },
    { ...save('Movie', { title: 'New', releaseDate: '2026-01-31' }), key: KEY, status: 200, says: /"title":"New"/ },
    { ...save('Movie', { ...jaws, imdbRating: 1 }), key: KEY, status: 401, says: /"errCode":1608/ },
    { ...save('Genre', { name: 'New' }), key: KEY, status: 401 },
    { path: `Movie(${jaws!.__KEY})?$method=delete`, key: KEY, status: 401, body: [] },
  ]
  for (const { path, key, status, says = /./, body } of cases) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const sent =
      body === undefined ? { method: 'GET' as const } : { method: 'POST' as const, body: JSON.stringify(body) }
    const answer = await request(`${url}/rest/${path}`, { ...sent, headers })
    const text = await answer.body.text()
    t.equal(answer.statusCode, status, `${path} ${key ? 'by the key' : 'by a guest'}: ${text.slice(0, 200)}`)
    t.match(text, says, path)
  }
})

t.test('with the recipe for guests, a class that is added is closed to them', async t => {
  const page = readFileSync('plugins/docs/pages/guide/roles.md', 'utf8')
  const [, recipe] = /^## Guests read one class$.*?^```json\n(.*?)^```$/ms.exec(page)!
  const model = JSON.parse(readFileSync('config/demo/model.json', 'utf8'))
  const added = { key: 'ID', attributes: { ID: { type: 'long' }, text: { type: 'string' } } }
  const server = await createTestServer({
    model: { ...model, dataClasses: { ...model.dataClasses, Secret: added } },
    data: {
      Movie: [{ title: 'Jaws', releaseDate: '1975-06-20', worldwideGross: 1 }],
      Secret: [{ ID: 1, text: 'hidden' }],
    },
    users: { ada: { privileges: ['staff'] } },
    roles: JSON.parse(recipe!),
  })
  t.teardown(() => server.close())
  const { json: catalog } = await server.get('/rest/$catalog')
  t.same(
    catalog.dataClass.map(({ name }: { name: string }) => name),
    ['Movie'],
  )
  const { json: movies } = await server.get('/rest/Movie')
  t.match(movies, { __COUNT: 1, __ENTITIES: [{ title: 'Jaws' }] })
  t.notMatch(JSON.stringify(movies), /worldwideGross|"(?:director|distributor)"/)
  const hidden = await server.get('/rest/Secret')
  t.equal(hidden.status, 404)
  t.equal(hidden.text.replaceAll('Secret', 'Nowhere'), (await server.get('/rest/Nowhere')).text)
  const ada = server.as('ada')
  t.match((await ada.get('/rest/Secret')).json, { __COUNT: 1 })
  t.match((await ada.get('/rest/Movie')).json, { __ENTITIES: [{ worldwideGross: 1 }] })
})

t.test('calls that are refused are answered as the page says', async t => {
  const folder = t.testdir({
    'index.js': `export default { name: 'calls', kernel: '^1.0.0', classes: new URL('./calls.ts', import.meta.url), register() {} }`,
    'calls.ts': `
      import { DataClass, Entity, EntitySelection, exposed } from 'tesser/classes'
      export class Order extends DataClass('Order') { @exposed place() {} @exposed other() { return 1 } }
      export class OrderEntity extends Entity('Order') { @exposed pay() {} }
      export class OrderSelection extends EntitySelection('Order') { @exposed sum() {} }
    `,
  })
  const Order = { key: 'ID', attributes: { ID: { type: 'long' } } }
  const none = ['nobody']
  const cases: readonly [order: object, method: string | undefined, answers: Readonly<Record<string, number>>][] = [
    [
      { read: none, create: none, execute: none },
      undefined,
      { 'Order/place': 1800, 'Order(1)/pay': 1800, 'Order/sum': 1800 },
    ],
    [{ read: none, execute: none }, undefined, { 'Order/place': 1561, 'Order(1)/pay': 1800, 'Order/sum': 1800 }],
    [
      { read: none, create: none, execute: none },
      'Order.other',
      { 'Order/place': 1561, 'Order/other': 0, 'Order/sum': 1800 },
    ],
    [{ read: none }, undefined, { 'Order/other': 0, 'Order(1)/pay': 1800, 'Order/sum': 1800 }],
    [{ execute: none }, undefined, { 'Order/place': 1561, 'Order(1)/pay': 1561, 'Order/sum': 1561 }],
  ]
  for (const [order, method, answers] of cases) {
    const allowed = [
      { applyTo: 'Order', type: 'dataclass', ...order },
      ...(method === undefined ? [] : [{ applyTo: method, type: 'method', execute: ['caller'] }]),
    ]
    const server = await createTestServer({
      model: { name: 'shop', dataClasses: { Order } },
      data: { Order: [{ ID: 1 }] },
      plugins: [join(folder, 'index.js')],
      users: { ada: { privileges: ['caller'] } },
      roles: { privileges: [{ privilege: 'nobody' }, { privilege: 'caller' }], permissions: { allowed } },
    })
    for (const [path, errCode] of Object.entries(answers)) {
      const { status, json } = await server.as('ada').post(`/rest/${path}`, [])
      const expected = { 0: 200, 1561: 401, 1800: 404 }[errCode]
      t.same([status, json.__ERROR?.[0].errCode ?? 0], [expected, errCode], `${JSON.stringify(allowed)} ${path}`)
    }
    await server.close()
  }
})
