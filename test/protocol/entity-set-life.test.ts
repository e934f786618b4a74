import t from 'tap'
import { type Case, MISSING, WOMEN, World } from '../support/servers/entity-set-world.ts'
import { unlessRemote } from '../support/runner/setting.ts'

/** Cases after one that has changed an entity have a new store. */
const LIFECYCLE: Case[] = [
  {
    spec: '3',
    name: 'a set ends after two hours without use, and every use starts them again',
    async run(world) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      for (let i = 0; i < 3; i++) {
        world.pass(7199)
        await world.same(set, ['1', '4', '6'])
      }
      world.pass(7200)
      await world.refused(set, 404, [1802])
    },
  },
  {
    spec: '3',
    name: 'computing, combining and being the other set are uses; reading another set is not',
    async run(world, t) {
      const a = await world.make(`${WOMEN}&$timeout=10`)
      const b = await world.make('/Employee?$timeout=10')
      world.pass(9)
      t.equal((await world.get(`/Employee/$entityset/${a}/salary?$compute=count`)).json, 3)
      world.pass(9)
      await world.refused(`/Employee/$entityset/${b}`, 404, [1802])
      await world.same(`/Employee/$entityset/${a}?$top=1`, ['1'])
      const c = await world.make('/Employee?$timeout=10')
      for (let i = 0; i < 3; i++) {
        world.pass(9)
        await world.same(`/Employee/$entityset/${a}?$logicOperator=AND&$otherCollection=${c}&$top=1`, ['1'])
      }
      await world.same(`/Employee/$entityset/${c}?$top=1`, ['1'])
    },
  },
  {
    spec: '3',
    name: '$timeout is the lifetime in seconds, and restarts from itself',
    async run(world) {
      const set = `/Employee/$entityset/${await world.make(`${WOMEN}&$timeout=30`)}`
      world.pass(29)
      await world.same(set, ['1', '4', '6'])
      world.pass(29)
      await world.same(`${set}?$timeout=9999`, ['1', '4', '6'])
      world.pass(30)
      await world.refused(set, 404, [1802])
    },
  },
  {
    spec: '3',
    name: '$timeout with $method=entityset on a set is its timeout from then on',
    async run(world, t) {
      const id = await world.make(WOMEN)
      t.equal(await world.make(`/Employee/$entityset/${id}?$timeout=5`), id)
      world.pass(5)
      await world.refused(`/Employee/$entityset/${id}`, 404, [1802])
    },
  },
  {
    spec: '3',
    name: 'a deleted member stays as an undefined reference and counts; $clean leaves it out',
    notRemote: 'an order of a set leaves out deleted members',
    async run(world, t) {
      const id = await world.make(WOMEN)
      const set = `/Employee/$entityset/${id}`
      t.equal((await world.server.post('/Employee(4)?$method=delete')).status, 200)
      const { json } = await world.get(set)
      t.match(json, { __COUNT: 3, __SENT: 3 })
      t.same(json.__ENTITIES[1], { __STAMP: 0 })
      t.match((await world.get(`${set}?$asArray=true`)).json, [{ __KEY: '1' }, { __STAMP: 0 }, { __KEY: '6' }])
      const table = await world.get(`${set}/ID,lastName?$format=looker`)
      t.match(table.json.rows, [{ values: [1, 'Lovelace'] }, { values: [null, null] }, { values: [6, String] }])
      t.match((await world.get(`${set}?$clean=true`)).json, {
        __COUNT: 2,
        __ENTITIES: [{ __KEY: '1' }, { __KEY: '6' }],
      })
      t.equal((await world.get(set)).json.__COUNT, 3, 'the original is unchanged')
      const cleaned = await world.make(`${set}?$clean=true`)
      t.not(cleaned, id)
      t.match((await world.get(`/Employee/$entityset/${cleaned}`)).json, { __COUNT: 2 })
      t.equal((await world.get(`${set}?$compute=count`)).json, 2, 'what does not exist is not computed')
      await world.same(`${set}?$filter="ID>0"`, ['1', '6'])
      await world.same(`${set}?$orderby="ID desc"`, ['6', '1', undefined])
    },
  },
  {
    spec: '3',
    name: 'a deleted member of an ordered set keeps its place',
    async run(world, t) {
      const set = `/Employee/$entityset/${await world.make('/Employee?$orderby="ID desc"')}`
      await world.server.post('/Employee(4)?$method=delete')
      await world.same(set, ['6', '5', undefined, '3', '2', '1'])
      await world.same(`${set}?$clean=true&$top=3`, ['6', '5', '3'])
      t.equal((await world.get(set)).json.__COUNT, 6)
    },
  },
  {
    spec: '3',
    name: 'a changed member shows its new values and stays, though it no longer matches',
    async run(world, t) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      await world.server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, woman: false, notes: 'new' })
      await world.server.post('/Employee?$method=update', { lastName: 'Hamilton', woman: true })
      await world.same(set, ['1', '4', '6'])
      t.match((await world.get(set)).json.__ENTITIES[0], { woman: false, notes: 'new', __STAMP: 2 })
    },
  },
  {
    spec: '4.4',
    name: '$method=delete deletes the members; the set has only undefined references then',
    async run(world, t) {
      const set = `/Employee/$entityset/${await world.make('/Employee?$filter="ID>4"')}`
      const answer = await world.server.post(`${set}?$method=delete`)
      t.same(answer.json, { ok: true })
      t.same((await world.get(set)).json.__ENTITIES, [{ __STAMP: 0 }, { __STAMP: 0 }])
      await world.same('/Employee', ['1', '2', '3', '4'])
    },
  },
  {
    spec: '4.4',
    name: '$method=delete takes the intersection of two sets, and nothing when the other one has ended',
    async run(world, t) {
      const [ended, live] = [
        await world.make('/Employee?$filter="ID>4"&$savedfilter=true&$timeout=10'),
        await world.make('/Employee?$filter="ID=6"'),
      ]
      const both = `/Employee/$entityset/${await world.make('/Employee?$filter="ID>4"')}?$method=delete&$logicOperator=AND`
      world.pass(10)
      t.match((await world.server.post(`${both}&$otherCollection=${ended}`)).json, { __ERROR: [{ errCode: 1820 }] })
      await world.same('/Employee', ['1', '2', '3', '4', '5', '6'])
      t.same((await world.server.post(`${both}&$otherCollection=${live}`)).json, { ok: true })
      await world.same('/Employee', ['1', '2', '3', '4', '5'])
    },
  },
  {
    spec: '4.4',
    name: '$method=delete on a set that does not exist deletes nothing',
    async run(world, t) {
      t.equal((await world.server.post(`/Employee/$entityset/${MISSING}?$method=delete`)).status, 404)
      t.same((await world.server.post('/Employee/$entityset/$none?$method=delete')).json, { ok: true })
      await world.same('/Employee', ['1', '2', '3', '4', '5', '6'])
    },
  },
  {
    spec: '4.5',
    name: '$release ends the sets in its body, in all three forms, and skips missing ones',
    async run(world, t) {
      const ids = await Promise.all(Array.from({ length: 5 }, () => world.make(WOMEN)))
      const other = await world.make('/Company')
      const release = (path: string, body: unknown) => world.server.post(path, body)
      t.same((await release('/Employee/$entityset/$release', [ids[0], MISSING, 'x', 5])).json, { ok: true })
      t.same((await release('/$entityset/$release', [ids[1], other])).json, { ok: true })
      t.same((await world.get(`/Employee/$entityset/${ids[2]}?$method=release`)).json, { ok: true })
      for (const id of ids.slice(0, 3)) await world.refused(`/Employee/$entityset/${id}`, 404, [1802])
      await world.refused(`/Company/$entityset/${other}`, 404, [1802])
      await world.refused(`/Employee/$entityset/${ids[2]}?$method=release`, 404, [1802])
      await world.same(`/Employee/$entityset/${ids[3]}?$top=1`, ['1'])
      t.same((await release('/Employee/$entityset/$release', undefined)).json, { ok: true })
      t.same((await release('/Employee/$entityset/$release', {})).json, { ok: true })
      t.equal((await release('/Employee/$entityset/$release', '[')).status, 400)
      t.equal((await release('/$entityset/x', [])).status, 404)
      t.equal((await world.get('/$entityset/$release')).status, 405)
    },
  },
  {
    spec: '3',
    name: 'a set of another class is not released through the address of this one, nor are the sets named with it',
    async run(world, t) {
      const [id, own] = [await world.make('/Company'), await world.make(WOMEN)]
      const { status, json } = await world.server.post('/Employee/$entityset/$release', [own, id])
      t.match({ status, json }, { status: 404, json: { __ERROR: [{ errCode: 1803 }] } })
      await world.same(`/Company/$entityset/${id}?$top=1`, ['1'])
      await world.same(`/Employee/$entityset/${own}?$top=1`, ['1'])
    },
  },
  {
    spec: '3',
    name: 'with $savedfilter=true a set is made again under its id, for ten minutes',
    async run(world, t) {
      const id = await world.make('/Employee?$filter="woman=:1"&$params=[true]&$orderby="ID desc"&$savedfilter=true')
      const set = `/Employee/$entityset/${id}`
      await world.server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, woman: false })
      await world.same(set, ['6', '4', '1'])
      world.pass(7200)
      await world.same(set, ['4', '6'])
      t.equal(await world.make(set), id)
      world.pass(599)
      await world.same(`${set}?$orderby="ID desc"`, ['6', '4'])
      await world.server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 2, woman: true })
      world.pass(599)
      await world.same(set, ['4', '6'])
      world.pass(600)
      await world.same(set, ['1', '4', '6'])
    },
  },
  {
    spec: '3',
    name: 'with $savedorderby=true it has its order again',
    async run(world) {
      const id = await world.make('/Employee?$filter="ID<4"&$orderby="ID desc"&$savedfilter=true&$savedorderby=true')
      const alone = await world.make('/Employee?$filter="ID<4"&$orderby="ID desc"&$savedorderby=true')
      world.pass(7200)
      await world.same(`/Employee/$entityset/${id}`, ['3', '2', '1'])
      await world.same(`/Employee/$entityset/${alone}`, ['3', '2', '1'])
    },
  },
  {
    spec: 'P6.2',
    name: 'texts at the creation are saved in place of those of the request',
    async run(world) {
      const id = await world.make('/Employee?$filter="ID=1"&$savedfilter="ID>4"&$savedorderby="ID desc"')
      const all = await world.make('/Employee?$filter="ID=1"&$savedfilter="$all"&$top=1')
      world.pass(7200)
      await world.same(`/Employee/$entityset/${id}`, ['6', '5'])
      await world.same(`/Employee/$entityset/${all}`, ['1', '2', '3', '4', '5', '6'])
    },
  },
  {
    spec: 'P6.2',
    name: 'texts at the access make a set again that was not saved, or never existed',
    async run(world) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      await world.same(`${set}?$savedfilter="ID=2"`, ['1', '4', '6'])
      world.pass(7200)
      await world.refused(`${set}?$savedfilter=true`, 404, [1802])
      await world.same(`${set}?$savedfilter="ID>:1"&$params=[4]&$savedorderby="ID desc"`, ['6', '5'])
      world.pass(599)
      await world.same(set, ['6', '5'])
      world.pass(600)
      await world.refused(set, 404, [1802])
      await world.same(`/Employee/$entityset/${MISSING}?$savedfilter="ID=2"&$timeout=20`, ['2'])
      world.pass(20)
      await world.refused(`/Employee/$entityset/${MISSING}`, 404, [1802])
      await world.refused('/Employee/$entityset/x?$savedfilter="ID=2"', 404, [1802])
    },
  },
  {
    spec: '3',
    name: 'a released set with a saved query is absent, and therefore made again on request',
    async run(world) {
      const id = await world.make(`${WOMEN}&$savedfilter=true`)
      await world.get(`/Employee/$entityset/${id}?$method=release`)
      await world.refused(`/Employee/$entityset/${id}?$method=release`, 404, [1802])
      await world.refused(`/Company/$entityset/${id}`, 404, [1803])
      await world.same(`/Employee/$entityset/${id}`, ['1', '4', '6'])
    },
  },
  {
    spec: '3',
    name: 'an absent set with a saved query is made again when it is the other set, too',
    async run(world) {
      const id = await world.make(`${WOMEN}&$savedfilter=true`)
      world.pass(7200)
      const other = await world.make('/Employee(1,2)')
      await world.same(`/Employee/$entityset/${other}?$logicOperator=AND&$otherCollection=${id}`, ['1'])
    },
  },
  {
    spec: 'P5.7',
    name: '$refresh=true makes a set with a saved query again while it lives',
    async run(world) {
      const saved = await world.make(`${WOMEN}&$savedfilter=true`)
      const plain = await world.make(WOMEN)
      await world.server.post('/Employee?$method=update', { __KEY: '1', __STAMP: 1, woman: false })
      await world.same(`/Employee/$entityset/${saved}`, ['1', '4', '6'])
      await world.same(`/Employee/$entityset/${saved}?$refresh=true`, ['4', '6'])
      await world.same(`/Employee/$entityset/${saved}`, ['4', '6'])
      await world.same(`/Employee/$entityset/${plain}?$refresh=true`, ['1', '4', '6'])
    },
  },
  {
    spec: 'P6.2',
    name: 'a set that came from another set is not made again as a larger set',
    async run(world) {
      const base = await world.make('/Employee(1,2)')
      const copy = await world.make(`/Employee/$entityset/${base}?$clean=true&$savedfilter=true`)
      world.pass(7200)
      await world.refused(`/Employee/$entityset/${copy}`, 404, [1802])
    },
  },
  {
    spec: 'D4',
    name: 'sets outlive a restart, with their order, their gaps and the rest of their lifetime',
    async run(world) {
      const plain = await world.make(WOMEN)
      const ordered = await world.make('/Employee?$orderby="ID desc"&$timeout=100')
      const saved = await world.make('/Employee?$filter="ID<3"&$savedfilter=true&$timeout=50')
      await world.server.post('/Employee(4)?$method=delete')
      world.pass(60)
      await world.same(`/Employee/$entityset/${ordered}?$top=1`, ['6'])
      await world.restart()
      world.pass(60)
      await world.same(`/Employee/$entityset/${plain}`, ['1', undefined, '6'])
      await world.same(`/Employee/$entityset/${ordered}`, ['6', '5', undefined, '3', '2', '1'])
      await world.same(`/Employee/$entityset/${saved}`, ['1', '2'])
      await world.restart()
      world.pass(100)
      await world.refused(`/Employee/$entityset/${ordered}`, 404, [1802])
      await world.same(`/Employee/$entityset/${plain}`, ['1', undefined, '6'])
    },
  },
]

t.test('life of entity sets', async t => {
  let world = await World.start(t)
  const untouched = await world.globalStamp()
  for (const { spec, name, run, notRemote } of LIFECYCLE) {
    if ((await world.globalStamp()) !== untouched) {
      await world.server.close()
      world = await World.start(t)
    }
    const options = notRemote === undefined ? {} : unlessRemote(notRemote)
    await t.test(`§${spec} ${name}`, options, async t => run(world.in(t), t))
  }
})
