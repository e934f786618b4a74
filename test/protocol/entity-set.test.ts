import t from 'tap'
import { type Case, idOf, MISSING, WOMEN, World } from '../support/servers/entity-set-world.ts'
import { usualTransports } from '../support/servers/test-server.ts'

/** Cases that change nothing except for making sets, so that they share a server. */
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
    name: '$skip and $top do not affect which entities are stored',
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
    name: 'a page of a set follows $skip and $top, ordered or not',
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
    name: 'attributes are listed before and after the id, or in $attributes',
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
    name: '$method=entityset on a set that nothing changes keeps the id',
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
    name: 'a request that cannot make a set says why',
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

for (const transport of usualTransports) {
  t.test(`entity sets on ${transport}`, async t => {
    const world = await World.start(t, transport)
    for (const { spec, name, run } of READING) await t.test(`§${spec} ${name}`, async t => run(world, t))
  })
}

t.test('entity sets with every query in the pool', async t => {
  const world = await World.start(t, usualTransports[0], { pool: { inlineCostMs: 0 }, entitySet: { memoryBytes: 0 } })
  for (const { spec, name, run } of READING) await t.test(`§${spec} ${name}`, async t => run(world, t))
})
