import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer, type TestAnswer, type TestServer, temporaryFolder, transports } from '../support/test-server.ts'

/** A server with a clock that the test moves. */
class World {
  private constructor(
    private readonly t: Test,
    private readonly folder: string,
    public server: TestServer,
    private readonly clock: { ms: number },
  ) {}

  static async start(t: Test, transport = transports[0]!, config = {}): Promise<World> {
    const folder = temporaryFolder(t)
    const clock = { ms: Date.now() }
    const server = await startServer(t, company, { transport, config, folder, now: () => clock.ms })
    return new World(t, folder, server, clock)
  }

  /** Makes a set. @returns its id */
  async make(path: string): Promise<string> {
    const answer = await this.get(`${path}${path.includes('?') ? '&' : '?'}$method=entityset`)
    this.t.equal(answer.status, 200, answer.text.slice(0, 300))
    return idOf(answer)
  }

  get(path: string): Promise<TestAnswer> {
    return this.server.get(path)
  }

  async keys(path: string): Promise<(string | undefined)[]> {
    const answer = await this.get(path)
    this.t.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`)
    return answer.json.__ENTITIES.map((entity: { __KEY?: string }) => entity.__KEY)
  }

  async same(path: string, keys: readonly (string | undefined)[]): Promise<void> {
    this.t.same(await this.keys(path), keys, path)
  }

  async refused(path: string, status: number, codes: readonly number[]): Promise<void> {
    const answer = await this.get(path)
    this.t.equal(answer.status, status, path)
    this.t.same(
      answer.json.__ERROR?.map((error: { errCode: number }) => error.errCode),
      codes,
      answer.text,
    )
  }

  pass(seconds: number): void {
    this.clock.ms += seconds * 1000
  }

  async restart(): Promise<void> {
    await this.server.close()
    const { t, folder, clock } = this
    this.server = await startServer(t, { ...company, rows: {} }, { folder, now: () => clock.ms })
  }
}

const idOf = (answer: TestAnswer): string => answer.json.__ENTITYSET.slice(answer.json.__ENTITYSET.lastIndexOf('/') + 1)

interface Case {
  /** Section that promises it, as in the protocol tables. */
  spec: string
  name: string
  run(world: World, t: Test): Promise<void>
}

const WOMEN = '/Employee?$filter="woman=true"'
const MISSING = '0123456789ABCDEF0123456789ABCDEF'

/** They change nothing but make sets, so they share a server. */
const READING: Case[] = [
  {
    spec: '4.4',
    name: 'a new set answers with its URI first, and in the header Content-Location',
    async run(world, t) {
      const { text, json, headers } = await world.get(`${WOMEN}&$method=entityset`)
      t.match(text, /^\{"__ENTITYSET":"\/rest\/Employee\/\$entityset\/[0-9A-F]{32}","__DATACLASS":"Employee",/)
      t.equal(headers['content-location'], json.__ENTITYSET)
      t.match(json, { __COUNT: 3, __SENT: 3, __FIRST: 0 })
    },
  },
  {
    spec: '2.6',
    name: 'reading a set has its dataclass and no URI',
    async run(world, t) {
      const { json } = await world.get(`/Employee/$entityset/${await world.make(WOMEN)}`)
      t.match(json, { __DATACLASS: 'Employee', __entityModel: 'Employee', __COUNT: 3, __ENTITYSET: undefined })
    },
  },
  {
    spec: '3',
    name: '$skip and $top do not matter for what is stored',
    async run(world, t) {
      const answer = await world.get('/Employee?$skip=2&$top=1&$method=entityset')
      t.match(answer.json, { __COUNT: 6, __SENT: 1, __FIRST: 2 })
      await world.same(`/Employee/$entityset/${idOf(answer)}`, ['1', '2', '3', '4', '5', '6'])
    },
  },
  {
    spec: 'P6.1',
    name: 'sets are made of keys in their order, of an order, and of a filter with an order',
    async run(world) {
      await world.same(`/Employee/$entityset/${await world.make('/Employee(4,1,3)')}`, ['4', '1', '3'])
      const bySalary = await world.make('/Employee?$orderby="salary desc, ID"')
      await world.same(`/Employee/$entityset/${bySalary}`, ['4', '1', '2', '3', '6', '5'])
      const query = '/Employee?$filter="salary>:1 order by salary"&$params=[40000]'
      await world.same(`/Employee/$entityset/${await world.make(query)}`, ['2', '3', '1', '4'])
    },
  },
  {
    spec: '4.5',
    name: 'a page of a set is what $skip and $top say, ordered or not',
    async run(world) {
      await world.same(`/Employee/$entityset/${await world.make('/Employee')}?$skip=1&$top=2`, ['2', '3'])
      const id = await world.make('/Employee?$orderby="ID desc"')
      await world.same(`/Employee/$entityset/${id}?$skip=1&$top=2`, ['5', '4'])
      await world.same(`/Employee/$entityset/${id}?$skip=10`, [])
    },
  },
  {
    spec: '4.5',
    name: '$filter looks within a set and keeps its order; $orderby orders the answer only',
    async run(world) {
      const id = await world.make('/Employee?$filter="salary>0"&$orderby="salary desc, ID"')
      await world.same(`/Employee/$entityset/${id}?$filter="woman=true"`, ['4', '1', '6'])
      await world.same(`/Employee/$entityset/${id}?$orderby=ID`, ['1', '2', '3', '4', '6'])
      await world.same(`/Employee/$entityset/${id}`, ['4', '1', '2', '3', '6'])
    },
  },
  {
    spec: '4.2',
    name: 'attributes are listed before and behind the id, or in $attributes',
    async run(world, t) {
      const id = await world.make('/Employee?$filter="ID=1"')
      for (const path of [
        `/Employee/lastName/$entityset/${id}`,
        `/Employee/$entityset/${id}/lastName`,
        `/Employee/$entityset/${id}?$attributes=lastName`,
      ]) {
        const [{ __TIMESTAMP, ...entity }] = (await world.get(path)).json.__ENTITIES
        t.same(entity, { __KEY: '1', __STAMP: 1, lastName: 'Lovelace' }, path)
      }
    },
  },
  {
    spec: '4.5',
    name: '$expand, $asArray, $compute, $distinct, $format and $query work on a set',
    async run(world, t) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      t.equal((await world.get(`${set}?$expand=employer`)).json.__ENTITIES[0].employer.name, 'Acme')
      t.same((await world.get(`${set}?$asArray=true&$top=1`)).json[0].__KEY, '1')
      t.equal((await world.get(`${set}/salary?$compute=sum`)).json, 240_000)
      t.equal((await world.get(`/Employee/salary/$entityset/${set.slice(-32)}?$compute=max`)).json, 120_000)
      t.equal((await world.get(`${set}?$compute=count`)).json, 3)
      t.same((await world.get(`${set}/firstName?$distinct=true`)).json, ['Ada', 'Grace'])
      t.equal((await world.get(`${set}/ID?$format=looker`)).json.__COUNT, 3)
      t.ok((await world.get(`${set}?$filter="ID=1"&$queryplan=true`)).json.__queryPlan)
      const answer = await world.server.post(`${set}/$query`, {
        $filter: 'ID > :1',
        $params: [1],
        $method: 'entityset',
      })
      t.equal(answer.json.__COUNT, 2)
    },
  },
  {
    spec: 'P6.1',
    name: '$method=entityset on a set that nothing changes answers under the same id',
    async run(world, t) {
      const id = await world.make(WOMEN)
      t.equal(await world.make(`/Employee/$entityset/${id}`), id)
      t.equal(await world.make(`/Employee/$entityset/${id}?$top=1&$expand=employer`), id)
      t.not(await world.make(`/Employee/$entityset/${id}?$orderby=ID`), id)
      const narrower = await world.make(`/Employee/$entityset/${id}?$filter="ID>1"`)
      t.not(narrower, id)
      await world.same(`/Employee/$entityset/${narrower}`, ['4', '6'])
      await world.same(`/Employee/$entityset/${id}`, ['1', '4', '6'])
    },
  },
  {
    spec: 'P6.1',
    name: 'with $asArray the URI of a new set is in the header',
    async run(world, t) {
      const { json, headers } = await world.get(`${WOMEN}&$asArray=true&$method=entityset`)
      t.equal(json.length, 3)
      await world.same(String(headers['content-location']).slice('/rest'.length), ['1', '4', '6'])
    },
  },
  {
    spec: 'P1.8',
    name: '$none is the empty set, and $entityset without an id is nothing',
    async run(world, t) {
      t.match((await world.get('/Employee/$entityset/$none')).json, { __COUNT: 0, __ENTITIES: [] })
      await world.same('/Employee/$entityset/?$filter="ID=1"', ['1'])
      const id = await world.make(WOMEN)
      await world.same(`/Employee/$entityset/$none?$logicOperator=OR&$otherCollection=${id}`, ['1', '4', '6'])
      t.equal(
        (await world.get(`/Employee/$entityset/${await world.make('/Employee/$entityset/$none')}`)).json.__COUNT,
        0,
      )
    },
  },
  {
    spec: '2.7',
    name: 'an id is found in lower case too',
    async run(world) {
      await world.same(`/Employee/$entityset/${(await world.make(WOMEN)).toLowerCase()}`, ['1', '4', '6'])
    },
  },
  {
    spec: '4.4',
    name: '$method=subentityset keeps related entities under their own class',
    async run(world, t) {
      const answer = await world.get(
        '/Company(1)/staff?$expand=staff&$method=subentityset&$subOrderby=salary asc&$subExpand=employer&$top=1',
      )
      t.match(answer.text, /^\{"__ENTITYSET":"\/rest\/Employee\/\$entityset\/[0-9A-F]{32}","__DATACLASS":"Employee"/)
      t.equal(answer.headers['content-location'], answer.json.__ENTITYSET)
      t.match(answer.json, { __COUNT: 2, __SENT: 1, __ENTITIES: [{ __KEY: '2', employer: { name: 'Acme' } }] })
      await world.same(`/Employee/$entityset/${idOf(answer)}`, ['2', '1'])
      const again = '/Company(1)/staff?$expand=staff&$method=subentityset&$subOrderby=salary desc'
      t.not(idOf(await world.get(again)), idOf(answer))
      await world.same(again, ['1', '2'])
      await world.same('/Company:code("FR/22")/staff?$expand=staff&$method=subentityset', ['3', '4'])
    },
  },
  {
    spec: 'P6.5',
    name: 'a set is paged with $method=subentityset as well',
    async run(world, t) {
      const answer = await world.get(
        `/Employee/$entityset/${await world.make(WOMEN)}?$method=subentityset&$skip=1&$top=1&$subOrderby=ID`,
      )
      t.match(answer.json, { __COUNT: 3, __FIRST: 1, __ENTITIES: [{ __KEY: '4' }], __ENTITYSET: undefined })
    },
  },
  {
    spec: 'P6.5',
    name: 'subentityset is refused without a relation to N, without $expand, and where there is no entity (1815)',
    async run(world) {
      for (const path of [
        '/Company(1)/staff?$method=subentityset',
        '/Company(1)?$expand=staff&$method=subentityset',
        '/Company/staff?$expand=staff&$method=subentityset',
        '/Company(1)/staff,name?$expand=staff&$method=subentityset',
        '/Employee(1)/employer?$expand=employer&$method=subentityset',
        '/Company(1)/name?$expand=name&$method=subentityset',
      ]) {
        await world.refused(path, 400, [1815])
      }
      await world.refused('/Company(99)/staff?$expand=staff&$method=subentityset', 404, [1543])
    },
  },
  {
    spec: '4.5',
    name: 'AND, OR and EXCEPT combine sets, in any case, by id or URI',
    async run(world) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      const other = await world.make('/Employee?$filter="salary<=45000"')
      await world.same(`${set}?$logicOperator=AND&$otherCollection=${other}`, ['6'])
      await world.same(`${set}?$logicOperator=or&$otherCollection=${other}`, ['1', '2', '3', '4', '6'])
      await world.same(`${set}?$logicOperator=Except&$otherCollection=/rest/Employee/$entityset/${other}`, ['1', '4'])
      await world.same(`${set}?$logicOperator=OR&$otherCollection="${other}"&$orderby="ID desc"&$top=2`, ['6', '4'])
      await world.same(`${set}?$logicOperator=OR&$otherCollection=${other}&$filter="ID<3"`, ['1', '2'])
    },
  },
  {
    spec: '4.5',
    name: 'INTERSECT is a bare boolean',
    async run(world, t) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      const [some, none] = [await world.make('/Employee(6,2)'), await world.make('/Employee(2,3)')]
      const answer = await world.get(`${set}?$logicOperator=INTERSECT&$otherCollection=${some}`)
      t.equal(answer.text, 'true')
      t.match(answer.headers['content-type'], 'application/json')
      t.equal((await world.get(`${set}?$logicOperator=intersect&$otherCollection=${none}`)).text, 'false')
    },
  },
  {
    spec: '3',
    name: 'a combination is stored with $method=entityset only, and leaves both sets as they are',
    async run(world) {
      const left = await world.make('/Employee(4,1,6)')
      const right = await world.make('/Employee(6,5,4)')
      const both = await world.make(`/Employee/$entityset/${left}?$logicOperator=AND&$otherCollection=${right}`)
      await world.same(`/Employee/$entityset/${both}`, ['4', '6'])
      await world.same(`/Employee/$entityset/${left}`, ['4', '1', '6'])
      await world.same(`/Employee/$entityset/${right}`, ['6', '5', '4'])
    },
  },
  {
    spec: '7.5',
    name: 'wrong operators and operands are 1818, 1819, 1820 and 1587',
    async run(world) {
      const set = `/Employee/$entityset/${await world.make(WOMEN)}`
      const other = await world.make('/Company')
      await world.refused(`${set}?$logicOperator=XOR&$otherCollection=${set.slice(-32)}`, 400, [1818])
      await world.refused(`${set}?$otherCollection=${set.slice(-32)}`, 400, [1818])
      await world.refused(`${set}?$logicOperator=AND`, 400, [1819])
      await world.refused(`${set}?$logicOperator=AND&$otherCollection=`, 400, [1819])
      await world.refused(`${set}?$logicOperator=AND&$otherCollection=x`, 400, [1820])
      await world.refused(`${set}?$logicOperator=AND&$otherCollection=${MISSING}`, 400, [1820])
      await world.refused(`${set}?$logicOperator=AND&$otherCollection=${other}`, 400, [1587])
      await world.refused(`/Employee?$logicOperator=AND&$otherCollection=${other}`, 400, [1813])
    },
  },
  {
    spec: 'P6.2',
    name: 'an unknown set is 1802 and one of another class 1803',
    async run(world) {
      const id = await world.make(WOMEN)
      for (const parameters of ['', '?$method=entityset', '?$method=release', '?$clean=true']) {
        await world.refused(`/Employee/$entityset/${MISSING}${parameters}`, 404, [1802])
        await world.refused(`/Employee/$entityset/x${parameters}`, 404, [1802])
        await world.refused(`/Company/$entityset/${id}${parameters}`, 404, [1803])
      }
    },
  },
  {
    spec: '4.4',
    name: 'what cannot be a set says why',
    async run(world) {
      const id = await world.make(WOMEN)
      await world.refused('/Employee(1)?$method=entityset', 400, [1813])
      await world.refused(`/Employee(1)/$entityset/${id}`, 400, [1813])
      await world.refused(`/Employee(1,2)/$entityset/${id}`, 400, [1813])
      await world.refused('/Employee?$method=release', 400, [1813])
      for (const timeout of ['0', '-1', 'soon', '1.5', '9999999999999999']) {
        await world.refused(`${WOMEN}&$method=entityset&$timeout=${timeout}`, 400, [1806])
      }
      await world.refused(`/Employee/$entityset/${id}?$filter="nobody=1"`, 404, [1500])
      await world.refused(`${WOMEN}&$method=entityset&$expand=nobody`, 404, [1500, 1805])
      await world.refused('/Nobody?$method=entityset', 404, [1800])
      await world.refused('/Hidden?$method=entityset', 404, [1800])
      await world.refused(`/Employee/$entityset/$release`, 405, [1813])
    },
  },
]

/** Each has a store of its own. */
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
    name: 'computing, combining and being the other set are uses; reading another set is none',
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
    async run(world, t) {
      const id = await world.make(WOMEN)
      const set = `/Employee/$entityset/${id}`
      t.equal((await world.server.post('/Employee(4)?$method=delete')).status, 200)
      const { json } = await world.get(set)
      t.match(json, { __COUNT: 3, __SENT: 3 })
      t.same(json.__ENTITIES[1], { __STAMP: 0 })
      t.match((await world.get(`${set}?$asArray=true`)).json, [{ __KEY: '1' }, { __STAMP: 0 }, { __KEY: '6' }])
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
    name: '$method=delete on a set that is not there deletes nothing',
    async run(world, t) {
      t.equal((await world.server.post(`/Employee/$entityset/${MISSING}?$method=delete`)).status, 404)
      t.same((await world.server.post('/Employee/$entityset/$none?$method=delete')).json, { ok: true })
      await world.same('/Employee', ['1', '2', '3', '4', '5', '6'])
    },
  },
  {
    spec: '4.5',
    name: '$release ends the sets in its body, in all three forms, and passes over what is not there',
    async run(world, t) {
      const ids = await Promise.all(Array.from({ length: 5 }, () => world.make(WOMEN)))
      const other = await world.make('/Company')
      const release = (path: string, body: unknown) => world.server.post(path, body)
      t.same((await release('/Employee/$entityset/$release', [ids[0], MISSING, 'x', 5, other])).json, { ok: true })
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
    name: 'a set of another class is not released by the address of this one',
    async run(world) {
      const id = await world.make('/Company')
      await world.server.post('/Employee/$entityset/$release', [id])
      await world.same(`/Company/$entityset/${id}?$top=1`, ['1'])
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
    name: 'texts at the creation are saved in the place of those of the request',
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
    name: 'texts at the access make a set again that was not saved, or never was',
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
    name: 'a released set with a saved query is absent, and so made again when it is asked for',
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
    name: 'an absent set with a saved query is made again to be the other one too',
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
    name: 'a set that came from another set is not made again as something greater',
    async run(world) {
      const base = await world.make('/Employee(1,2)')
      const copy = await world.make(`/Employee/$entityset/${base}?$clean=true&$savedfilter=true`)
      world.pass(7200)
      await world.refused(`/Employee/$entityset/${copy}`, 404, [1802])
    },
  },
  {
    spec: 'D4',
    name: 'sets outlive a restart, with their order, their gaps and what is left of their lifetime',
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

for (const transport of transports) {
  t.test(`entity sets on ${transport}`, async t => {
    const world = await World.start(t, transport)
    for (const { spec, name, run } of READING) await t.test(`§${spec} ${name}`, async t => run(world, t))
  })
}

t.test('entity sets with every query in the pool', async t => {
  const world = await World.start(t, transports[0], { pool: { inlineCostMs: 0 }, entitySet: { memoryBytes: 0 } })
  for (const { spec, name, run } of READING) await t.test(`§${spec} ${name}`, async t => run(world, t))
})

t.test('life of entity sets', async t => {
  for (const { spec, name, run } of LIFECYCLE) {
    await t.test(`§${spec} ${name}`, async t => run(await World.start(t), t))
  }
})
