import t, { type Test } from 'tap'
import { passages } from '../support/fixtures/passages.ts'
import { startServer, type TestServer, usualTransports } from '../support/servers/test-server.ts'

/** Entity sets of similar vectors. Source: base specification, 4.3.2 and 4.5. */

interface Question {
  vector?: number[]
  metric?: string
  threshold?: number | null
}

/** Parameters of an address: a vector condition, and more. */
const similar = ({ vector = [1, 0, 0], ...more }: Question, others = ''): string =>
  `$filter="embedding > :1"&$params='${encodeURIComponent(JSON.stringify([{ vector, ...more }]))}'${others}`

class World {
  private ms = Date.now()

  private constructor(
    private readonly t: Test,
    readonly server: TestServer,
  ) {}

  static async start(t: Test, transport = usualTransports[0]!): Promise<World> {
    let world: World | undefined
    const server = await startServer(t, passages, { transport, now: () => world?.ms ?? Date.now() })
    world = new World(t, server)
    return world
  }

  /** @returns the address of a new set */
  async make(parameters: string): Promise<string> {
    const { status, json, text } = await this.server.get(`/Passage?${parameters}&$method=entityset`)
    this.t.equal(status, 200, text.slice(0, 300))
    return json.__ENTITYSET.replace('/rest', '')
  }

  async same(path: string, keys: readonly string[], parts?: object): Promise<void> {
    const { status, json, text } = await this.server.get(path)
    this.t.equal(status, 200, text.slice(0, 300))
    this.t.same(
      json.__ENTITIES?.map((entity: { __KEY: string }) => entity.__KEY),
      keys,
      path,
    )
    if (parts) this.t.match(json, parts)
  }

  pass(seconds: number): void {
    this.ms += seconds * 1000
  }
}

const idOf = (path: string): string => path.split('/').at(-1)!
const Y = [0, 1, 0]

for (const transport of usualTransports) {
  t.test(`sets of similar vectors on ${transport}`, async t => {
    const world = await World.start(t, transport)
    const near = await world.make(similar({ threshold: -2 }, '&$orderby="embedding desc"'))
    const up = await world.make(similar({ vector: Y, threshold: 0.5 }))
    const nearest = await world.make(similar({ threshold: null }, '&$top=2'))
    const and = (path: string, operator: string, other: string) =>
      `${path}?$logicOperator=${operator}&$otherCollection=${idOf(other)}`

    t.comment('a set has the order of the scores, and all beyond the page')
    await world.same(near, ['1', '2', '7', '3', '4'])
    await world.same(`${near}?$skip=1&$top=2`, ['2', '7'], { __COUNT: 5, __FIRST: 1 })
    await world.same(nearest, ['1', '2', '7', '3', '4'])
    t.comment('sets are combined')
    await world.same(and(near, 'AND', up), ['2', '3', '7'])
    await world.same(and(up, 'or', nearest), ['1', '2', '3', '4', '7'])
    await world.same(and(near, 'EXCEPT', up), ['1', '4'])
    t.equal((await world.server.get(and(near, 'INTERSECT', up))).text, 'true')
    t.comment('similar vectors are searched for in a set, with their order and scores')
    await world.same(`${up}?${similar({ threshold: 0.1 })}`, ['2', '7'])
    await world.same(`${near}?${similar({ vector: Y, threshold: 0.5 }, '&$orderby="embedding desc"')}`, ['3', '7', '2'])
    await world.same(`${near}?${similar({ vector: Y, threshold: null })}&$top=2`, ['3', '7'], { __COUNT: 5 })
    const scored = await world.server.get(`/Passage/__SCORE/$entityset/${idOf(up)}?${similar({ threshold: 0.7 })}`)
    t.match(scored.json, { __COUNT: 1, __ENTITIES: [{ __KEY: '2' }] })
    t.ok(Math.abs(scored.json.__ENTITIES[0].__SCORE - 0.8) < 1e-7)
    t.comment('aggregates of a set')
    t.equal((await world.server.get(`/Passage/page/$entityset/${idOf(near)}?$compute=sum`)).text, '17')
    const distinct = await world.server.get(`/Passage/text/$entityset/${idOf(up)}?$distinct=true`)
    t.same(distinct.json, ['across', 'long', 'near'])
    t.comment('an order by scores takes a condition')
    const { status } = await world.server.get(`${near}?$orderby="embedding desc"`)
    t.equal(status, 404)
  })
}

t.test('a set with a saved filter is made again from its vector', async t => {
  const world = await World.start(t)
  const saved = '&$orderby="embedding desc"&$savedfilter=true&$savedorderby=true&$timeout=60'
  const path = await world.make(similar({ threshold: 0.5 }, saved))
  await world.same(path, ['1', '2', '7'])
  const change = { __KEY: '3', __STAMP: 1, embedding: [1, 0.1, 0] }
  t.equal((await world.server.post('/Passage?$method=update', change)).status, 200)
  await world.same(path, ['1', '2', '7'])
  world.pass(61)
  await world.same(path, ['1', '3', '2', '7'])
})

t.test('members are changed and deleted; a set is deleted', async t => {
  const world = await World.start(t)
  const path = await world.make(similar({ threshold: 0.5 }, '&$orderby="embedding desc"'))
  await world.server.post('/Passage?$method=update', { __KEY: '2', __STAMP: 1, embedding: [-1, 0, 0] })
  await world.server.send('DELETE', '/Passage(7)')
  const { json } = await world.server.get(path)
  t.match(json, { __COUNT: 3, __ENTITIES: [{ __KEY: '1' }, { __KEY: '2', embedding: [-1, 0, 0] }, { __STAMP: 0 }] })
  t.equal((await world.server.post(`${path}?$method=delete`)).status, 200)
  const rest = await world.server.get('/Passage')
  t.same(
    rest.json.__ENTITIES.map(({ ID }: { ID: number }) => ID),
    [3, 4, 5, 6],
  )
})

t.test('similar vectors, by paths in both directions, with other conditions', async t => {
  const world = await World.start(t)
  const ask = async (dataClass: string, $filter: string, $params: unknown[], more = {}): Promise<string> => {
    const { json, text } = await world.server.post(`/${dataClass}/ID/$query`, { $filter, $params, ...more })
    return json.__ENTITIES?.map(({ ID }: { ID: number }) => ID).join() ?? text
  }
  const x = { vector: [1, 0, 0] }
  const cover = { vector: [0, 0], metric: 'euclidean', threshold: 1 }
  const far = { vector: [0, 0], metric: 'euclidean', threshold: 4 }
  for (const [dataClass, filter, params, expected] of [
    ['Book', 'passages.embedding > :1', [x], '1'],
    ['Book', 'passages.embedding <= :1', [{ ...x, threshold: -0.9 }], '2'],
    ['Book', 'not (passages.embedding > :1)', [x], '2'],
    ['Book', 'passages.embedding > :1 or title = two', [x], '1,2'],
    ['Book', 'cover <= :1 and passages.embedding > :2', [cover, x], '1'],
    ['Book', 'passages.embedding > :1 and passages.page = 2', [x], '1'],
    ['Book', 'passages.embedding > :1 and passages.page = 6', [x], ''],
    ['Passage', 'book.cover > :1', [far], '3,4'],
    ['Passage', 'book.cover > :1 or embedding > :2', [far, x], '1,2,3,4,7'],
    ['Passage', 'embedding > :1 except book.cover <= :2', [x, cover], '7'],
    ['Passage', '(embedding > :1 or book.cover > :2) and page < 4', [x, far], '1,2,3'],
    ['Passage', 'book.passages.embedding > :1', [{ vector: Y, threshold: 0.9 }], '3,4'],
    ['Passage', 'book.cover >= :1 order by book.cover desc, ID', [{ ...far, threshold: 0 }], '3,4,1,2,6'],
  ] as const) {
    t.equal(await ask(dataClass, filter, [...params]), expected, `${dataClass}: ${filter}`)
    t.equal(await ask(dataClass, filter, [...params], { $exact: true }), expected, `${dataClass}: ${filter}, exactly`)
  }
})

t.test('the plan and the path of a query', async t => {
  const { server } = await World.start(t)
  const { json } = await server.get(`/Passage?${similar({})}&$queryplan=true&$querypath=true`)
  t.match(json.__queryPlan, { item: 'Passage.embedding cosine > 0.5' })
  t.match(json.__queryPath, { steps: [{ description: 'Passage.embedding cosine > 0.5', recordsfounds: 3 }] })
})
