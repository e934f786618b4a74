/** Attributes that are unique together, in the store and in an owned table of PostgreSQL. That part is skipped without PostgreSQL. */
import t, { type Test } from 'tap'
import { connect } from '../support/clients/mcp-client.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { lentPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

const postgres = await startPostgres()

const modelOf = (storage?: object) => ({
  name: 'library',
  dataClasses: {
    Loan: {
      ...(storage && { storage }),
      key: 'ID',
      unique: [
        ['copyID', 'open'],
        ['reader', 'day'],
      ],
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        copyID: { type: 'long' },
        open: { type: 'bool' },
        reader: { type: 'string' },
        day: { type: 'date', simpleDate: true, scope: 'private' },
      },
    },
  },
})

const save = (server: TestServer, body: unknown, more = '') => server.post(`/Loan?$method=update${more}`, body)
const codes = ({ json }: { json: { __ERROR?: { errCode: number }[] } }) => json.__ERROR?.map(({ errCode }) => errCode)

async function checkRules(t: Test, server: TestServer): Promise<void> {
  t.same(codes(await save(server, { copyID: 1, open: true })), undefined)
  const second = await save(server, { copyID: 1, open: true })
  t.equal(second.status, 409)
  t.match(second.json.__ERROR, [
    {
      errCode: 1115,
      attribute: 'copyID',
      message: 'another entity has copyID 1 and open true, which are unique together',
    },
    { errCode: 1534 },
  ])
  const free = [{ copyID: 1 }, { copyID: 1, open: null }, { copyID: 1, open: false }, { open: true }, { open: true }]
  t.same(codes(await save(server, free, '&$atomic=true')), undefined, 'nulls and other values')
  const three = Array.from({ length: 3 }, () => ({ copyID: 2, open: true }))
  t.match((await save(server, three)).json.__ENTITIES, [{ copyID: 2 }, { __ERROR: [{}, {}] }, { __ERROR: [{}, {}] }])
  const [closed] = (await server.get('/Loan?$filter="copyID=1 and open=false"&$asArray=true')).json
  t.same(codes(await save(server, { ...closed, open: true })), [1115, 1517], 'a change of one of them')
  const [open] = (await server.get('/Loan?$filter="copyID=1 and open=true"&$asArray=true')).json
  t.same(codes(await save(server, { ...open, reader: 'Ada' })), undefined, 'the entity itself')
  const eight = await Promise.all(Array.from({ length: 8 }, () => save(server, { copyID: 3, open: true })))
  t.equal(eight.filter(({ status }) => status === 200).length, 1, 'one of eight at once')
  t.equal((await server.get('/Loan?$filter="copyID=3"')).json.__COUNT, 1)
}

t.test('in the store', async t => {
  const server = await startServer(t, { model: modelOf(), rows: {} })
  await checkRules(t, server)
})

t.test('lists are shown, unless they have a private attribute', async t => {
  const server = await startServer(t, { model: modelOf(), rows: {} })
  t.same((await server.get('/$catalog/Loan')).json.unique, [['copyID', 'open']])
  t.same((await server.get('/$catalog/$all')).json.dataClasses[0].unique, [['copyID', 'open']])
  const agent = await connect(t, server.url)
  t.match((await agent.call('describe', { class: ['Loan'] })).text, /^Loan, key ID, unique together: copyID \+ open\n/)
})

t.test('a client that may create but not read cannot find out which values exist', async t => {
  const roles = {
    privileges: [{ privilege: 'none' }],
    permissions: { allowed: [{ applyTo: 'Loan', type: 'dataclass', read: ['none'] }] },
  }
  const server = await startServer(
    t,
    { model: modelOf(), rows: { Loan: [{ ID: 1, copyID: 1, open: true }] } },
    { roles },
  )
  const taken = await save(server, { copyID: 1, open: true })
  const free = await save(server, { copyID: 2, open: true })
  t.same(taken.json, free.json)
  t.not(taken.status, 200)
})

t.test('a stored calculated attribute decides when the rule holds', async t => {
  const { Loan } = modelOf().dataClasses
  const attributes = { ...Loan.attributes, isOut: { kind: 'calculated', type: 'bool', stored: true } }
  const model = { name: 'library', dataClasses: { Loan: { ...Loan, unique: [['copyID', 'isOut']], attributes } } }
  const folder = temporaryFolder(t)
  const withoutCode = await startServer(t, { model, rows: {} }, { folder })
  t.same(codes(await save(withoutCode, [{ copyID: 1 }, { copyID: 1 }], '&$atomic=true')), undefined)
  await withoutCode.close()
  const options = { folder, config: { plugins: [lentPlugin] } }
  await t.rejects(
    startServer(t, { model, rows: {} }, options),
    /^Loan: values that its code calculates cannot be stored: .*copyID 1 and isOut true, which are unique together/,
  )

  const again = await startServer(t, { model, rows: {} }, { folder })
  await again.post('/Loan(2)?$method=delete', {})
  await again.close()
  const server = await startServer(t, { model, rows: {} }, options)
  t.same(codes(await save(server, { copyID: 1 })), [1115, 1534])
  const [loan] = (await server.get('/Loan?$asArray=true')).json
  t.equal((await save(server, { ...loan, reader: 'Ada' })).json.isOut, null)
  t.same(codes(await save(server, { copyID: 1 })), undefined)
  t.same(codes(await save(server, { __KEY: '1', __STAMP: 2, reader: null })), [1115, 1517])
})

if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  t.test('in an owned table', async t => {
    const model = modelOf({ postgres: 'shop', owned: true })
    const config = { connections: { shop: { url: postgres.url } } }
    const server = await startServer(t, { model, rows: {} }, { config })
    await checkRules(t, server)
  })
}
