/** Values that new entities get: `default`, and `autoFill` of times and users. The same on all ways into the store. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeTypes } from '../../engine/author/data-api/write-types.ts'
import { ClassRegistry } from '../../engine/author/declare/class-registry.ts'
import type { StorageAttribute } from '../../engine/catalog/attribute.ts'
import { publicView } from '../../engine/catalog/view.ts'
import { loadModel } from '../../engine/index.ts'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { clientText } from '../../plugins/client/index.ts'
import { connect } from '../support/clients/mcp-client.ts'
import type { Setting } from '../support/runner/setting.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { initialPlugin, summaryPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

const values = {
  ID: { type: 'long', autoFill: 'increment' },
  title: { type: 'string' },
  lent: { type: 'bool', default: false, mandatory: true },
  state: { type: 'string', default: 'now', maxLength: 5, indexed: true },
  copies: { type: 'word', default: 1, minValue: 1 },
  large: { type: 'long64', default: '9007199254740993' },
  price: { type: 'decimal', scale: 2, default: 2.5 },
  weight: { type: 'number', default: -0.5 },
  due: { type: 'date', simpleDate: true, default: '2030-01-31' },
  since: { type: 'date', default: '2001-02-03T04:05:06Z' },
  pause: { type: 'duration', default: '01:30:00' },
  origin: { type: 'uuid', default: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12' },
  info: { type: 'object', default: { tags: ['it\'s "new"'] }, properties: { kind: { type: 'string' } } },
  remark: { type: 'string', scope: 'private', default: 'unseen' },
  made: { type: 'date', autoFill: 'now', readOnly: true },
  day: { type: 'date', simpleDate: true, autoFill: 'now' },
  by: { type: 'string', autoFill: 'user' },
  code: { type: 'string', autoFill: 'uuid' },
  shelfCode: { type: 'string', default: 'A1' },
  shelf: { kind: 'relatedEntity', type: 'Shelf', foreignKey: 'shelfCode' },
  remarkShown: { kind: 'alias', path: 'remark' },
}
const MODEL = {
  name: 'library',
  dataClasses: {
    Shelf: { key: 'code', attributes: { code: { type: 'string' } } },
    Plain: { key: 'ID', attributes: values },
    Coded: { key: 'ID', attributes: { ...values, first: { type: 'object' }, second: { type: 'object' } } },
  },
}
const ROWS = { Shelf: [{ code: 'A1' }, { code: 'B2' }] }
const NOW = '2024-05-06T07:00:00Z'

const DEFAULTS = {
  lent: false,
  state: 'now',
  copies: 1,
  large: 9_007_199_254_740_992,
  price: 2.5,
  weight: -0.5,
  due: '2030-01-31',
  since: '2001-02-03T04:05:06.000Z',
  pause: 5_400_000,
  origin: 'A0EEBC999C0B4EF8BB6D6BB9BD380A12',
  info: { tags: ['it\'s "new"'] },
  remarkShown: 'unseen',
  shelf: { code: 'A1' },
}
const attributes = `title,made,day,by,code,${Object.keys(DEFAULTS).filter(each => each !== 'shelf')},shelf.code`

const keys = { ada: createKey() }
const asAda = { authorization: `Bearer ${keys.ada}` }

async function open(t: Test, setting: Setting, { roles, now }: { roles?: object; now?: () => number } = {}) {
  const folder = temporaryFolder(t)
  const file = { users: [], keys: Object.entries(keys).map(([name, key]) => ({ name, hash: hashKey(key) })) }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(file))
  const config = { plugins: [initialPlugin], functions: { threads: 1 }, auth: { guestsAdministrate: true } }
  const options = { folder, config, setting, roles, now: now ?? (() => Date.parse(NOW)) }
  return startServer(t, { model: MODEL, rows: ROWS }, options)
}

const CSV = { 'content-type': 'text/csv' }
const titles = ['a', 'b', 'c']
const bodies = titles.map(title => ({ title }))

/** Ways into the store. Each saves entities with the titles; `user` has the name of the user then. */
const WAYS: Record<string, { user?: string; save(server: TestServer, name: string): Promise<unknown> }> = {
  'one by one': {
    user: 'ada',
    async save(server, name) {
      for (const body of bodies) await server.post(`/${name}?$method=update`, body, asAda)
    },
  },
  'in one body': { user: 'ada', save: (server, name) => server.post(`/${name}?$method=update`, bodies, asAda) },
  'all or none': {
    user: 'ada',
    save: (server, name) => server.post(`/${name}?$method=update&$atomic=true`, bodies, asAda),
  },
  'by a guest': { save: (server, name) => server.post(`/${name}?$method=update`, bodies) },
  'by a function': {
    user: 'ada',
    async save(server, name) {
      for (const body of bodies) await server.post('/$catalog/add', [name, body], asAda)
    },
  },
  'from a collection': { user: 'ada', save: (server, name) => server.post('/$catalog/collect', [name, bodies], asAda) },
  'by an import of CSV': {
    save: (server, name) => server.post(`/$import/${name}`, `title\n${titles.join('\n')}\n`, CSV),
  },
  'by an import of JSON': {
    save: (server, name) =>
      server.post(`/$import/${name}?$format=ndjson`, bodies.map(each => JSON.stringify(each)).join('\n')),
  },
  'by a load': {
    save: ({ engine }, name) =>
      engine.saves.write({
        ...{ kind: 'save', dataClass: name, mode: 'update', atomic: false, trusted: true },
        body: Buffer.from(JSON.stringify(bodies)),
      }),
  },
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`without databases: ${postgres}`)
else await postgres.stop()
const SETTINGS: readonly Setting[] = ['normal', 'pool', ...(typeof postgres === 'string' ? [] : (['remote'] as const))]

for (const setting of SETTINGS) {
  t.test(`new entities have the same values, whoever saves them (${setting})`, async t => {
    const server = await open(t, setting)
    for (const name of ['Plain', 'Coded']) {
      for (const [way, { user = null, save }] of Object.entries(WAYS)) {
        const before = (await server.get(`/${name}?$top=0`)).json.__COUNT
        await save(server, name)
        const { json } = await server.get(`/${name}?$skip=${before}&$orderby="ID"&$attributes=${attributes}`)
        t.same(
          json.__ENTITIES.map(({ title }: { title: string }) => title),
          titles,
          `${name}, ${way}`,
        )
        for (const entity of json.__ENTITIES) {
          t.match(entity, { ...DEFAULTS, by: user, code: /^[0-9A-F]{32}$/ }, `${name}, ${way}`)
          // The thread that asks databases has a clock of its own.
          t.match(entity, setting === 'remote' ? { made: String } : { made: /^2024-05-06T07:/, day: '2024-05-06' }, way)
        }
      }
      const found = await server.get(`/${name}?$filter="lent != true and state = now and copies < 2"&$top=0`)
      t.equal(found.json.__COUNT, titles.length * Object.keys(WAYS).length)
    }
  })

  t.test(`an explicit null stays null, and changes fill nothing (${setting})`, async t => {
    const server = await open(t, setting)
    const update = '/Plain?$method=update'
    const nothing = { state: null, copies: null, due: null, info: null, shelf: null, by: null, title: 'null' }
    for (const body of [nothing, { ...nothing, shelf: undefined, shelfCode: null }]) {
      const [entity] = (await server.post(update, [body])).json.__ENTITIES
      t.match(entity, { ...nothing, lent: false, weight: -0.5, day: String, by: null })
      const stored = (await server.get(`/Plain(${entity.__KEY})?$attributes=state,info,shelfCode,price`)).json
      t.match(stored, { state: null, info: null, shelfCode: null, price: 2.5 })
      const { __KEY, __STAMP } = entity
      t.match((await server.post(update, { __KEY, __STAMP, title: 'changed' })).json, { title: 'changed', state: null })
    }
    t.match((await server.post(update, { lent: null })).json, { __ERROR: [{ errCode: 1116, attribute: 'lent' }, {}] })
    t.match((await server.post(update, { lent: true, state: 'x', shelf: 'B2' }, asAda)).json, {
      ...{ lent: true, state: 'x', by: 'ada' },
      shelf: { __deferred: { __KEY: 'B2' } },
    })
    const [entity] = (await server.post(update, [{ title: 'x' }])).json.__ENTITIES
    const emptied = { __KEY: entity.__KEY, __STAMP: 1, state: null, made: entity.made }
    t.match((await server.post(update, emptied)).json, { __STAMP: 2, state: null, copies: 1 })
    const shown = await server.post('/Plain?$method=update&$refresh=true', { title: 'shown' })
    t.match(shown.json, { title: 'shown', lent: false, state: 'now' })
    t.same((await server.post('/Plain?$method=validate', { title: 'x' })).json, { ok: true })
  })

  t.test(`a column of a file that is empty is null (${setting})`, async t => {
    const server = await open(t, setting)
    await server.post('/$import/Plain', 'title,copies,due\na,,\nb,7,2020-01-01\n', CSV)
    const { json } = await server.get('/Plain?$orderby="ID"&$attributes=copies,due,state')
    t.match(json.__ENTITIES, [
      { copies: null, due: null, state: 'now' },
      { copies: 7, due: '2020-01-01', state: 'now' },
    ])
  })
}

t.test('code sees the defaults of a new entity, and its events the values of the save', async t => {
  const server = await open(t, 'normal')
  const unsaved = { lent: false, info: DEFAULTS.info, shelf: 'A1', by: null, made: null, code: null }
  for (const name of ['Plain', 'Coded']) {
    const { result } = (await server.post('/$catalog/fresh', [name], asAda)).json
    t.same(result, { ...unsaved, key: null, touched: name === 'Plain' ? [] : ['first'], stamp: 0 }, name)
    t.same((await server.post('/$catalog/tag', [name, 'x'])).json.result, [
      { tags: [...DEFAULTS.info.tags, 'x'] },
      DEFAULTS.info,
    ])
  }
  const seen = { first: unsaved, second: { ...unsaved, by: 'ada', made: 'string', touched: ['title', 'first'] } }
  const [entity] = (await server.post('/Coded?$method=update', [{ title: 'x' }], asAda)).json.__ENTITIES
  t.match(entity, { ...seen, second: { ...seen.second, touched: ['first', 'title'] } })
  const given = { title: 'x', lent: true, info: null, shelf: null }
  const [other] = (await server.post('/Coded?$method=update', [given])).json.__ENTITIES
  t.match(other, { second: { lent: true, info: null, shelf: null, by: null } })
  t.same((await server.post('/$catalog/addLate', ['Coded'], asAda)).json.result, [false, true, 'ada'])
})

t.test('stored calculated attributes are computed from defaults and automatic values', async t => {
  const model = {
    name: 'sums',
    dataClasses: { Shelf: MODEL.dataClasses.Shelf, Summed: { key: 'ID', attributes: values } },
  }
  const server = await startServer(t, { model, rows: ROWS }, { config: { plugins: [summaryPlugin] } })
  const update = '/Summed?$method=update'
  const answer = await server.post(update, [{ title: 'x' }, { lent: true, state: null, by: 'kurt' }])
  t.match(answer.json.__ENTITIES, [{ summary: 'now false once null' }, { summary: 'null true once kurt' }])
})

t.test('a body and a transaction have one time', async t => {
  for (const setting of ['normal', 'pool'] as const) {
    let time = Date.parse(NOW)
    const server = await open(t, setting, { now: () => time++ })
    for (const name of ['Plain', 'Coded']) {
      const times = async (filter: string): Promise<Set<string>> => {
        const { json } = await server.get(`/${name}?$filter="title = ${filter}"&$attributes=made`)
        t.equal(json.__COUNT, 3)
        return new Set(json.__ENTITIES.map(({ made }: { made: string }) => made))
      }
      const some = (title: string): object[] => titles.map(() => ({ title }))
      await server.post(`/${name}?$method=update`, some('body'))
      await server.post(`/${name}?$method=update&$atomic=true`, some('atomic'))
      await server.post('/$catalog/addTogether', [name, some('together')])
      for (const title of ['body', 'atomic', 'together']) t.equal((await times(title)).size, 1, `${name}, ${title}`)
    }
  }
})

t.test('a body that is saved in several parts, and an import, have one time', async t => {
  let time = Date.parse(NOW)
  const server = await open(t, 'normal', { now: () => time++ })
  const times = async (name: string, count: number): Promise<unknown[]> => {
    t.equal((await server.get(`/${name}?$top=0`)).json.__COUNT, count)
    return (await server.get(`/${name}/made?$distinct=true`)).json
  }
  // One more than run their events together, than the writer saves in a transaction, and than an import saves at once.
  const many = (count: number): object[] => Array.from({ length: count }, () => ({ title: 'x' }))
  await server.post('/Coded?$method=update', many(501))
  t.equal((await times('Coded', 501)).length, 1)
  await server.post('/Plain?$method=update', many(10_001))
  t.equal((await times('Plain', 10_001)).length, 1)
  await server.post('/$import/Plain', `title\n${'y\n'.repeat(5001)}`, CSV)
  t.equal((await times('Plain', 15_002)).length, 2)
})

t.test('who may not write or see an attribute still stores its value', async t => {
  const hr = ['hr']
  const roles = {
    privileges: [{ privilege: 'hr' }],
    permissions: {
      allowed: [
        { applyTo: 'Plain.state', type: 'attribute', create: hr, update: hr },
        { applyTo: 'Plain.shelfCode', type: 'attribute', read: hr, create: hr, update: hr },
        { applyTo: 'Plain.by', type: 'attribute', read: hr },
        { applyTo: 'Shelf', type: 'dataclass', read: hr },
      ],
    },
  }
  for (const setting of ['normal', 'pool'] as const) {
    const server = await open(t, setting, { roles })
    const update = '/Plain?$method=update'
    t.match((await server.post(update, [{ title: 'x' }])).json.__ENTITIES, [{ title: 'x', state: 'now', __STAMP: 1 }])
    t.match((await server.post('/$catalog/add', ['Plain', { title: 'y' }])).json, { result: { success: true } })
    const { catalog, parts } = server.engine
    const plain = catalog.dataClassesByName.get('Plain')!
    const shelfCode = plain.attributesByName.get('shelfCode') as StorageAttribute
    const stored = parts.data.read(snapshot => {
      const table = snapshot.table(plain)
      return Array.from(table.live.toIds(), rowId => table.row(rowId)!.value(shelfCode))
    })
    t.same(stored, ['A1', 'A1'])
    for (const state of ['other', null])
      t.match((await server.post(update, [{ state }])).json.__ENTITIES, [{ __ERROR: [{ errCode: 1608 }, {}] }])
    t.match((await server.post(update, [{ state: 'now' }])).json.__ENTITIES, [{ state: 'now' }], 'as it would be')
  }
})

t.test('a default that is the key of no entity is refused, without its name where it is hidden', async t => {
  const hidden = { applyTo: 'Plain.shelfCode', type: 'attribute', read: ['hr'], create: ['hr'], update: ['hr'] }
  for (const roles of [undefined, { privileges: [{ privilege: 'hr' }], permissions: { allowed: [hidden] } }]) {
    const server = await startServer(t, { model: MODEL, rows: {} }, { roles })
    const { json, text } = await server.post('/Plain?$method=update', { title: 'x' })
    t.equal(json.__ERROR[0].errCode, roles ? 1570 : 1155, text)
    t.equal(text.includes('A1'), !roles)
  }
})

t.test('descriptions of the model have defaults, and those of private attributes nowhere', async t => {
  const server = await open(t, 'normal')
  const catalog = await server.get('/$catalog/Plain')
  const described = new Map<string, { default?: unknown; mandatory?: boolean }>(
    catalog.json.attributes.map((each: { name: string }) => [each.name, each]),
  )
  const { shelf: _, remarkShown: __, ...shown } = DEFAULTS
  for (const [name, value] of Object.entries({ ...shown, large: '9007199254740993', shelfCode: 'A1' }))
    t.same(described.get(name)!.default, value, name)
  t.equal(described.get('lent')!.mandatory, undefined)
  t.notOk('default' in described.get('title')!)

  const openapi = await server.get('/$openapi')
  const { properties, required = [] } = openapi.json.components.schemas['Plain.save']
  t.match(properties, { lent: { default: false }, due: { default: '2030-01-31' }, state: { default: 'now' } })
  t.notOk(required.includes('lent'))

  const agent = await connect(t, server.url)
  const { text } = await agent.call('describe', { class: ['Plain'] })
  t.match(text, /\nlent: bool, default false\n/)
  t.match(text, /\nstate: string, indexed, maxLength 5, default "now"\n/)

  const seen = { view: publicView(loadModel(MODEL)), classes: new ClassRegistry(), mayCall: () => true }
  const client = clientText(seen, { source: 'test', dates: 'date', isModule: false })
  t.match(client, /needs: never/)
  t.match(writeTypes(loadModel(MODEL), 'model.json'), / lent: boolean\n/)
  for (const each of [catalog.text, openapi.text, text, client]) t.notMatch(each, /unseen/)
})
