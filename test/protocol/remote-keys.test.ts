/**
 * Entity sets and locks of dataclasses in PostgreSQL with keys of all kinds. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

/** Keys of six entities, in the order of the database, whose attribute `n` is 1 to 6. */
const KINDS = {
  Number: { type: 'long', columns: ['"ID" int'], keys: ['1', '2', '3', '4', '5', '6'] },
  Negative: { type: 'long', columns: ['"ID" int'], keys: ['-7', '0', '1', '2', '3', '4'] },
  Long: {
    type: 'long64',
    columns: ['"ID" bigint'],
    keys: ['1', '2', '3', '4026531840', '9007199254740993', '9007199254740995'],
  },
  Text: { type: 'string', columns: ['"ID" text COLLATE "C"'], keys: ['#1', '=a', 'A', 'a', 'x y', 'é~'] },
  Uuid: {
    type: 'uuid',
    columns: ['"ID" uuid'],
    keys: Array.from({ length: 6 }, (_, i) => `A0EEBC999C0B4EF8BB6D6BB9BD380A1${i}`),
  },
  Parts: {
    type: 'string',
    columns: ['a int', 'b text COLLATE "C"'],
    keys: ['1~x', '1~y', '2~x', '3~a', '3~\\~', '10~b'],
  },
} as const
const parts = (key: string): string[] => [
  key.slice(0, key.indexOf('~')),
  key.slice(key.indexOf('~') + 1).replace('\\', ''),
]
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const SQL = Object.entries(KINDS)
  .map(([name, { columns, keys }]) => {
    const names = columns.map(column => column.split(' ')[0]!)
    const rows = keys.map((key, i) => `(${(names.length > 1 ? parts(key) : [key]).map(quoted).join()}, ${i + 1})`)
    return `CREATE TABLE "${name}" (${columns.join()}, n int, PRIMARY KEY (${names.join()})); INSERT INTO "${name}" VALUES ${rows.join()};`
  })
  .join('\n')

const model = {
  name: 'keys',
  dataClasses: Object.fromEntries(
    Object.entries(KINDS).map(([name, { type, columns }]) => [
      name,
      {
        storage: { postgres: 'keys', table: name },
        key: 'ID',
        attributes: { ID: { type, ...(columns.length > 1 && { column: ['a', 'b'] }) }, n: { type: 'long' } },
      },
    ]),
  ),
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const fixture = { model, rows: {} }
  const config = { connections: { keys: { url: postgres.url } } }
  const folder = temporaryFolder(t)
  let server = await startServer(t, fixture, { config, folder })
  const sets = new Map<string, string>()
  const shown = async (path: string): Promise<unknown[]> => {
    const { json, text } = await server.get(path)
    return json?.__ENTITIES?.map((each: { n?: number }) => each.n ?? each) ?? text
  }
  const make = async (path: string): Promise<string> => {
    const { json } = await server.get(`${path}&$method=entityset`)
    return json.__ENTITYSET.replace(/^.*\/rest/, '')
  }
  const idOf = (uri: string): string => uri.slice(uri.lastIndexOf('/') + 1)

  for (const [name, { keys }] of Object.entries(KINDS)) {
    await t.test(`entity sets by keys: ${name}`, async t => {
      const above = await make(`/${name}?$filter="n > 2"`)
      const below = await make(`/${name}?$filter="n < 5"&$orderby=n desc`)
      const combined = (operator: string) => `${above}?$logicOperator=${operator}&$otherCollection=${idOf(below)}`
      const none = await make(`/${name}?$filter="n > 99"`)
      t.same(
        (await server.get(above)).json.__ENTITIES.map((each: { __KEY: string }) => each.__KEY),
        keys.slice(2),
      )
      t.same(await shown(`${above}?$skip=1&$top=2`), [4, 5], 'a page')
      t.same((await server.get(`${above}?$top=1`)).json.__COUNT, 4, 'its size')
      t.same(await shown(below), [4, 3, 2, 1], 'an order lasts')
      t.same(await shown(`${below}?$filter="n > 1"`), [4, 3, 2], 'a filter keeps the order')
      t.same(await shown(`${above}?$orderby=n desc&$top=2`), [6, 5], 'another order')
      t.same((await server.get(`${above.replace('/$', '/n/$')}?$compute=sum`)).text, '18', 'a sum')
      t.same(await shown(combined('AND')), [3, 4])
      t.same((await shown(combined('OR'))).sort(), [1, 2, 3, 4, 5, 6])
      t.same(await shown(combined('EXCEPT')), [5, 6])
      t.same((await server.get(combined('INTERSECT'))).text, 'true')
      t.same((await server.get(combined('INTERSECT').replace(idOf(below), idOf(none)))).text, 'false')
      t.same(
        await shown(`${none}?$logicOperator=OR&$otherCollection=${idOf(above)}`),
        [3, 4, 5, 6],
        'with an empty set',
      )
      const first = await make(`/${name}?$filter="n = 1"`)
      t.same(
        await shown(`${first}?$logicOperator=OR&$otherCollection=${idOf(above)}`),
        [1, 3, 4, 5, 6],
        'of one entity',
      )

      await postgres.run(`DELETE FROM "${name}" WHERE n = 4`)
      t.same(await shown(above), [3, { __STAMP: 0 }, 5, 6], 'a deleted member leaves a gap')
      t.same(await shown(`${above}?$filter="n > 0"`), [3, 5, 6])
      t.same(await shown(`${above}?$clean=true`), [3, 5, 6])
      const cleaned = await make(`${below}?$clean=true`)
      t.same(await shown(cleaned), [3, 2, 1], 'a cleaned set keeps the order')
      sets.set(name, above)

      const saved = await make(`/${name}?$filter="n > 4"&$savedfilter=true`)
      await server.post(`${saved}?$method=release`)
      t.same(await shown(saved), [5, 6], 'recreated')
      await postgres.run(`UPDATE "${name}" SET n = 0 WHERE n = 6`)
      t.same(await shown(`${saved}?$refresh=true`), [5], 'refreshed')
      await postgres.run(`UPDATE "${name}" SET n = 6 WHERE n = 0`)
    })
  }

  await t.test('entity sets outlive a restart, and a check of the store finds them right', async t => {
    await server.close()
    server = await startServer(t, fixture, { config, folder })
    for (const [name, uri] of sets) t.same(await shown(uri), [3, { __STAMP: 0 }, 5, 6], name)
  })

  for (const [name, { keys }] of Object.entries(KINDS)) {
    await t.test(`locks by keys: ${name}`, async t => {
      server = await startServer(t, fixture, { config })
      const session = async (): Promise<Record<string, string>> => ({
        cookie: String((await server.get('/$catalog')).headers['set-cookie']).split(';')[0]!,
      })
      const [ada, kurt] = [await session(), await session()]
      const [key, other] = [encodeURIComponent(keys[4]!), encodeURIComponent(keys[2]!)]
      const lock = async (text: string, is: boolean, who: Record<string, string>) =>
        (await server.post(`/${name}(${text})?$lock=${is}`, undefined, who)).json
      t.match(await lock(key, true, ada), { result: true })
      t.match(await lock(key, true, kurt), { result: false, __STATUS: { status: 3 } })
      t.match(await lock(other, true, kurt), { result: true }, 'another entity')
      const { json } = await server.get(`/${name}(${key})`)
      const change = [{ __KEY: keys[4], __STAMP: json.__STAMP, n: 5 }]
      t.match((await server.post(`/${name}?$method=update`, change, kurt)).json, {
        __ENTITIES: [{ __STATUS: { status: 3 } }],
      })
      t.match((await server.post(`/${name}(${key})?$method=delete`, undefined, kurt)).json, { __ERROR: [{}, {}] })
      t.equal((await server.post(`/${name}?$method=update`, change, ada)).status, 200, 'its owner may')
      t.match(await lock(key, false, ada), { result: true, __STATUS: { success: true } })
      t.match(await lock(key, false, ada), { result: true, __STATUS: { wasNotLocked: true } })
      t.match(await lock(key, true, kurt), { result: true })
    })
  }

  t.test('bools can be keys', async t => {
    await postgres.run('CREATE TABLE flag (c bool PRIMARY KEY, n int); INSERT INTO flag VALUES (true, 1), (false, 2)')
    const attributes = { c: { type: 'bool' }, n: { type: 'long' } }
    const dataClasses = { Flag: { storage: { postgres: 'keys', table: 'flag' }, key: 'c', attributes } }
    const served = await startServer(t, { model: { name: 'flags', dataClasses }, rows: {} }, { config })
    t.match((await served.get('/Flag(true)')).json, { c: true, n: 1 })
    t.match((await served.get('/Flag(false)')).json, { c: false, n: 2 })
    const { json } = await served.get('/Flag?$filter="n=2"&$method=entityset')
    t.match(json.__ENTITIES, [{ c: false }])
  })
}
