/**
 * Vectors in PostgreSQL: arrays of numbers, and columns of pgvector where it is installed. Each condition and order has the result of the
 * same vectors in the store. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { scoreOf } from '../../engine/vector/math/similarity.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer } from '../support/servers/test-server.ts'

const DIMENSION = 5
const metrics = ['cosine', 'dot', 'euclidean'] as const
/** Deterministic vectors, with one of zeros, tiny and huge ones, equal ones and nulls. */
const vectors: (number[] | null)[] = Array.from({ length: 60 }, (_, i) =>
  i % 13 === 5
    ? null
    : Array.from({ length: DIMENSION }, (_, j) => Math.fround(Math.sin((i % 50) * 7.3 + j * 1.7) * ((i % 4) + 0.5))),
)
vectors[7] = Array(DIMENSION).fill(0)
vectors[8] = vectors[9]!.map(each => Math.fround(each * 1e-25))
vectors[10] = vectors[11]!.map(each => Math.fround(each * 1e25))
vectors[12] = [1, 0, 0, 0, 0]
const wanted = [vectors[3]!, vectors[12], Array(DIMENSION).fill(0)] as number[][]

const text = (vector: number[] | null, [open, close]: string): string =>
  vector ? `'${open}${vector.join()}${close}'` : 'NULL'
const table = (name: string, type: string, brackets: string): string => `
CREATE TABLE ${name} (id int PRIMARY KEY, v ${type}, part int);
INSERT INTO ${name} VALUES ${vectors.map((vector, i) => `(${i + 1}, ${text(vector, brackets)}, ${i % 3})`).join()};
`
const attributes = (hnsw?: object) => ({
  ID: { type: 'long', column: 'id' },
  v: { type: 'vector', dimension: DIMENSION, ...(hnsw && { hnsw }) },
  part: { type: 'long' },
})
const remote = (name: string, hnsw?: object) => ({
  storage: { postgres: 'main', table: name },
  key: 'ID',
  attributes: attributes(hnsw),
})
const local = {
  key: 'ID',
  attributes: { ID: { type: 'long' }, v: { type: 'vector', dimension: DIMENSION }, part: { type: 'long' } },
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(table('arrays', 'real[]', '{}') + table('doubles', 'float8[]', '{}'))
  const hasVectors = await postgres.run('CREATE EXTENSION vector').then(
    () => true,
    () => false,
  )
  if (!hasVectors) t.comment('skipped: columns of pgvector, which is not installed')
  else {
    await postgres.run(table('plain', `vector(${DIMENSION})`, '[]') + table('indexed', `vector(${DIMENSION})`, '[]'))
    await postgres.run('CREATE INDEX near ON indexed USING hnsw (v vector_cosine_ops)')
    await postgres.run('ALTER DATABASE postgres SET enable_seqscan = off')
  }
  const classes = { Arrays: remote('arrays'), Doubles: remote('doubles') }
  const ofVectors = hasVectors ? { Plain: remote('plain'), Indexed: remote('indexed', {}) } : {}
  const model = { name: 'vectors', dataClasses: { Local: local, ...classes, ...ofVectors } }
  const rows = { Local: vectors.map((v, i) => ({ ID: i + 1, v, part: i % 3 })) }
  const config = { connections: { main: { url: postgres.url } } }
  const server = await startServer(t, { model, rows }, { config })
  const query = async (dataClass: string, filter: string, params: unknown[], more = ''): Promise<string> => {
    const address = `/${dataClass}?$filter=${encodeURIComponent(`"${filter}"`)}&$params=${encodeURIComponent(JSON.stringify(params))}&$top=100&$attributes=ID,__SCORE${more}`
    const { json, text } = await server.get(address)
    return json?.__ENTITIES
      ? json.__ENTITIES.map((each: { ID: number; __SCORE: number }) => `${each.ID}: ${each.__SCORE}`).join('\n')
      : text
  }

  for (const dataClass of Object.keys({ ...classes, ...ofVectors })) {
    await t.test(`conditions and orders have the scores of the store: ${dataClass}`, async t => {
      for (const metric of metrics) {
        for (const vector of wanted) {
          const ofRow = scoreOf({ metric, vector: Float32Array.from(vector) }, vectors[20]!) ?? 0
          for (const threshold of [ofRow, 0.5, -1]) {
            for (const comparator of ['<', '<=', '>', '>=']) {
              const params = [{ vector, metric, threshold }]
              const expected = await query('Local', `v ${comparator} :1`, params, '&$orderby=ID')
              const found = await query(dataClass, `v ${comparator} :1`, params, '&$orderby=ID')
              t.equal(found, expected, `${metric} ${comparator} ${threshold}`)
            }
          }
          const any = [{ vector, metric, threshold: metric === 'euclidean' ? 1e30 : -1e30 }, 1]
          const comparator = metric === 'euclidean' ? '<' : '>'
          for (const [filter, order] of [
            [`v ${comparator} :1`, 'v'],
            [`v ${comparator} :1`, 'v desc'],
            [`v ${comparator} :1 or part = :2`, 'v desc'],
            [`v ${comparator} :1 or part = :2`, 'v'],
            [`not(v ${comparator} :1)`, 'ID'],
          ] as const) {
            const more = `&$orderby=${encodeURIComponent(order)}`
            const found = await query(dataClass, filter, any, more)
            t.equal(found, await query('Local', filter, any, more), `${metric} ${filter} ${order}`)
          }
        }
      }
    })

    await t.test(`vectors are saved and read: ${dataClass}`, async t => {
      const v = [0.1, -2.5, 3e-8, 0, 7]
      const { json } = await server.post(`/${dataClass}?$method=update`, { ID: 1000, v, part: 9 })
      t.match(json, { ID: 1000, v })
      t.match(await query(dataClass, 'v > :1', [{ vector: v, threshold: 0.999999 }]), /^1000: 1$/)
      await server.post(`/${dataClass}(1000)?$method=delete`)
    })
  }

  await t.test('a vector of another dimension is refused', async t => {
    const { status, json } = await server.get('/Arrays?$filter="v > :1"&$params=[{"vector":[1,2],"threshold":0}]')
    t.equal(status, 400, JSON.stringify(json))
  })
}
