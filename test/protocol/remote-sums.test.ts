/**
 * Sums and averages near the ends of the range of doubles: PostgreSQL has the answers of the store, which is null only if the result is
 * beyond that range; an average of integers of 64 bits is rounded once. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { sumsPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

const MAX = Number.MAX_VALUE

/** Values of rows, with their sum. */
const LISTS: Readonly<Record<string, { readonly values: readonly number[]; readonly sum: number | null }>> = {
  beyond: { values: [1e308, 1e308, 1e308], sum: null },
  below: { values: [-MAX, -MAX], sum: null },
  onTheWay: { values: [1e308, 1e308, 1e308, -1e308, -1e308], sum: 1e308 },
  cancelled: { values: [MAX, MAX, -MAX, -MAX, 0.5], sum: 0.5 },
  equal: { values: [1e308, 1e308], sum: null },
  greatest: { values: [MAX], sum: MAX },
  least: { values: [5e-324, 5e-324], sum: 1e-323 },
  mixed: { values: [1e300, 0.25, -1e300, 0.5], sum: 0.75 },
  tenths: { values: Array(10).fill(0.1), sum: 1 },
  usual: { values: [1.5, 2.25, -7], sum: -3.25 },
}
const names = Object.keys(LISTS)
/** Their average, 2^53 + 1, lies between two doubles, and so does their sum, from which another double would result. */
const INTEGERS = Array(3).fill('9007199254740993')
const rowCount = Math.max(...Object.values(LISTS).map(({ values }) => values.length))
const rows = Array.from({ length: rowCount }, (_, row) => ({
  ID: row + 1,
  integer: INTEGERS[row] ?? null,
  ...Object.fromEntries(names.map(name => [name, LISTS[name]!.values[row] ?? null])),
  object: Object.fromEntries(names.map(name => [name, LISTS[name]!.values[row] ?? null])),
}))

const SQL = `CREATE TABLE remote ("ID" int PRIMARY KEY, integer int8, ${names.map(name => `"${name}" float8`).join(', ')}, object jsonb);
INSERT INTO remote SELECT * FROM jsonb_populate_recordset(NULL::remote, '${JSON.stringify(rows)}');`

const attributes = {
  ID: { type: 'long' },
  integer: { type: 'long64' },
  ...Object.fromEntries(names.map(name => [name, { type: 'number' }])),
  object: { type: 'object', properties: { usual: { type: 'number' }, beyond: { type: 'number' } } },
}
const model = {
  name: 'sums',
  dataClasses: {
    Local: { key: 'ID', attributes },
    Remote: { storage: { postgres: 'db', table: 'remote' }, key: 'ID', attributes },
  },
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const config = { connections: { db: { url: postgres.url } }, plugins: [sumsPlugin], functions: { threads: 1 } }
  const server = await startServer(t, { model, rows: { Local: rows } }, { config })
  const read = async (path: string): Promise<unknown> => {
    const { status, text, json } = await server.get(path)
    t.equal(status, 200, `${path}: ${text.slice(0, 300)}`)
    return json
  }

  for (const [name, { values, sum }] of Object.entries(LISTS)) {
    await t.test(`${name}: ${values.join(', ')}`, async t => {
      const average = sum === null ? null : sum / values.length
      for (const path of [name, `object.${name}`]) {
        const all = { count: values.length, sum, average, min: Math.min(...values), max: Math.max(...values) }
        for (const dataClass of ['Local', 'Remote']) {
          t.same(await read(`/${dataClass}/${path}?$compute=$all`), { [path]: all }, `$all of ${path} in ${dataClass}`)
          t.same(await read(`/${dataClass}/${path}?$compute=sum`), sum, `sum of ${path} in ${dataClass}`)
          t.same(await read(`/${dataClass}/${path}?$compute=average`), average, `average of ${path} in ${dataClass}`)
        }
        const question = `${path}?$compute=$all&$distinct=true`
        t.same(
          Object.values((await read(`/Remote/${question}`)) as object),
          Object.values((await read(`/Local/${question}`)) as object),
          question,
        )
      }
      const byCode = async (dataClass: string) => (await server.post(`/${dataClass}/sums`, [name])).json.result
      const [local, remote] = [await byCode('Local'), await byCode('Remote')]
      t.match(remote, { sum, average }, 'by code')
      t.same(remote, local, 'by code, in both')
    })
  }

  await t.test('integers of 64 bits', async t => {
    for (const dataClass of ['Local', 'Remote']) {
      const { text } = await server.get(`/${dataClass}/integer?$compute=sum`)
      t.equal(text, '27021597764222979', `sum in ${dataClass}`)
      t.equal(await read(`/${dataClass}/integer?$compute=average`), 2 ** 53, `average in ${dataClass}`)
      t.equal(await read(`/${dataClass}/integer?$compute=averageDistinct`), 2 ** 53, `of the one value in ${dataClass}`)
    }
  })

  await t.test('of all attributes, of an entity set, and of a selection that is filtered', async t => {
    const list = names.join()
    const { json } = await server.get('/Remote?$filter="ID > 0"&$method=entityset')
    const set = json.__ENTITYSET.replace(/^.*\/rest\/Remote/, '')
    const expected = await read(`/Local/${list}?$compute=$all`)
    t.same(await read(`/Remote/${list}?$compute=$all`), expected)
    t.same(await read(`/Remote/${list}${set}?$compute=$all`), expected, 'an entity set')
    t.same(
      await read(`/Remote/${list}?$compute=$all&$filter="ID < 3"`),
      await read(`/Local/${list}?$compute=$all&$filter="ID < 3"`),
      'a filter',
    )
  })
}
