/**
 * The port for back ends: dataclasses in memory answer every request as those of the store do, whichever of them are there. The back end
 * is in test/support/memory-backend.
 */
import t, { type Test } from 'tap'
import { type EngineOptions, openEngine } from '../../../../engine/index.ts'
import { createKey, hashKey } from '../../../../kernel/auth/directory.ts'
import { engineOptions } from '../../../support/engine/engine-options.ts'
import { company } from '../../../support/fixtures/company.ts'
import { memoryBackend } from '../../../support/engine/memory-backend/memory-backend.ts'
import { startConfigured } from '../../../support/servers/configured-server.ts'
import type { Fixture } from '../../../support/servers/test-server.ts'

/** Dataclasses in memory; the others are in the store. */
const PLACES = [['Company'], ['Employee', 'Tag'], ['Company', 'Employee', 'Tag', 'City', 'Hidden']]

/** With decimals, whose sums a place has to give as texts. */
const FIXTURE = structuredClone(company) as { model: { dataClasses: Record<string, { attributes: object }> } } & Fixture
Object.assign(FIXTURE.model.dataClasses.Tag!.attributes, { price: { type: 'decimal', scale: 2 } })
for (const [i, row] of FIXTURE.rows.Tag!.entries()) Object.assign(row, { price: ['-3.10', '1.25'][i] })

const key = createKey()
/** Configuration of servers whose log nobody reads. */
const QUIET = { config: { log: { level: 'silent' }, pool: { threads: 1 } } }
const FILES = {
  'tesser.directory.json': { keys: [{ name: 'tests', hash: hashKey(key), privileges: ['hr'] }] },
  'roles.json': {
    privileges: [{ privilege: 'hr' }],
    permissions: {
      allowed: [
        { applyTo: 'Employee.salary', type: 'attribute', read: ['hr'] },
        { applyTo: 'Company', type: 'dataclass', update: ['hr'] },
        { applyTo: 'Tag', type: 'dataclass', read: ['hr'], drop: ['hr'] },
        { applyTo: 'City', type: 'dataclass', create: ['hr'] },
      ],
    },
  },
}

/** Requests in their order: `POST /path body`, GET if there is no method. `ada` and `kurt` are sessions, `hr` has a key with rights. */
const READS = `
/Company
/Employee?$top=2&$skip=1
/Employee?$skip=4
/Employee?$top=0
/Company?$asArray=true
/Company(2)
/Company(77)
/Company(x)
/Company(3,1)
/Company:code(FR/22)
/Company:name(acme)
/Employee:lastName(nobody)
/City(Paris)
/City(paris)
/City(%22New%20York%20(NY)%22)
/Tag(0000000000000000000000000000000A)
/Employee/lastName,salary
/Employee?$attributes=lastName,employer.name,manager.employer.name
/Employee/employerName,pay
/Company?$attributes=name,staff.lastName,staff.manager.lastName
/Company?$expand=staff
/Company(1)/staff
/Company(1)?$expand=staff
/Company(1)/staff?$expand=staff&$filter="salary > 50000"
/Employee(2)/employer
/Employee(2)/manager?$expand=manager
/Employee?$expand=employer,manager,directReports
/Employee(5)/employer
/Hidden
/Company/info?$filter="info.address.city = paris"
/Employee?$filter="lastName = l@"
/Employee?$filter="lastName = @o@ and salary >= 45000"
/Employee?$filter="salary = null"
/Employee?$filter="salary != null and not(woman = true)"
/Employee?$filter="hired >= 2012-01-01 and hired < 2020-12-31"
/Employee?$filter="employer.name = acme"
/Employee?$filter="employer = null"
/Employee?$filter="employer != null"
/Employee?$filter="employer.name = null"
/Employee?$filter="not(employer.name = acme)"
/Employee?$filter="employer.revenues > 100 or manager.employer.name = z@"
/Employee?$filter="manager.manager.lastName = Lovelace"
/Company?$filter="staff.salary > 100000"
/Company?$filter="staff = null"
/Company?$filter="staff.directReports.employer.code = DE/3"
/Company?$filter="not(staff.woman = true)"
/Company?$filter="info.tags[] = old"
/Company?$filter="info.offices[].size > 5"
/Company?$filter="name in :1"&$params=[["acme","zeta"]]
/Company?$filter="ID = :1 or code = :2"&$params=[4,"FR/1"]
/Company?$filter="nothing = 1"
/Company?$filter="name ="
/City?$filter="name > n"
/Tag?$filter="größe > 9223372036854775806"
/Tag?$filter="id = 00000000000000000000000000000001"
/Employee?$orderby=lastName
/Employee?$orderby=salary desc,firstName
/Employee?$orderby=firstName&$top=3
/Employee?$orderby=manager.lastName desc
/City?$orderby=population desc&$skip=1&$top=2
/Company?$orderby=info.address.city
/Employee(3,1,2)?$orderby=salary
/Employee(3,1,2)?$filter="salary = 45000"
/Employee/salary?$compute=$all
/Employee/salary?$compute=sum&$filter="woman = true"
/Employee/lastName,hired?$compute=$all
/Company/revenues,name,active?$compute=$all
/Tag/größe,float,byte,price?$compute=$all
/Tag/price?$distinct=true
/Employee/firstName?$compute=count&$distinct=true
/Company/info.address.city?$compute=$all
/Company/info.offices.length?$compute=$all
/Employee?$compute=count
/Employee/firstName?$distinct=true
/Employee/salary?$distinct=true&$filter="salary > 1"
/Employee/hired?$distinct=true&$top=2
/Employee/woman?$distinct=true
/Employee/woman?$distinct=true&$filter="employer.name = acme"
/Company/info.address.city?$distinct=true
/Employee/manager.lastName?$distinct=true
/Employee?$format=looker
/Company(1)/contract?$binary=true&$expand=contract
/Employee(1)/photo?$imageformat=best&$expand=photo
/Employee(2)/photo?$imageformat=best&$expand=photo
/Employee?$queryplan=1&$filter="nobody = 1"
`

const WRITES = `
POST /Company?$method=update {"name":"New","revenues":12.5,"info":{"tags":["x"]},"code":"IT/9"}
POST /Company?$method=update [{"name":"A","code":"XX/1"},{"name":"B","code":"xx/1"},{"name":null},{"name":"C","code":"wrong"}]
POST /Company?$method=update&$atomic=true [{"name":"D"},{"name":"E","code":"fr/1"}]
POST /Company?$method=update {"ID":1,"name":"Taken"}
POST /Company?$method=update {"__KEY":"1","__STAMP":1,"revenues":5}
POST /Company?$method=update {"__KEY":"1","__STAMP":1,"revenues":6}
POST /Company?$method=update {"__KEY":"1","revenues":6}
POST /Company?$method=update {"__KEY":"77","__STAMP":1,"revenues":6}
POST /Company?$method=update [{"__KEY":"2","__STAMP":1,"founded":"1900-01-01"},{"__KEY":"2","__STAMP":2,"founded":"1900-01-02"}]
POST /Company?$method=validate {"__KEY":"2","__STAMP":3,"name":null,"code":"bad"}
POST /Company?$method=validate {"name":"fine"}
POST /Company?$method=update&$refresh=true {"__KEY":"2","__STAMP":3,"revenues":1}
POST /Company?$method=update {"__KEY":"2","__STAMP":3,"contract":null,"info":null}
POST /Company?$method=update&$expand=staff {"__KEY":"2","__STAMP":4,"revenues":2}
POST /Employee?$method=update {"lastName":"Noether","salary":-1}
POST /Employee?$method=update {"lastName":"Noether","salary":7,"employer":{"__KEY":"2"},"manager":{"__KEY":"1"}}
POST /Employee?$method=update&$attributes=lastName,employer.name [{"__KEY":"7","__STAMP":1,"employerID":3}]
POST /Employee?$method=update {"__KEY":"7","__STAMP":2,"managerID":7,"salary":8}
POST /Employee?$method=update {"__KEY":"7","__STAMP":3,"manager":null}
POST /Tag?$method=update [{"id":"00000000000000000000000000000002","größe":"-9223372036854775808"}]
POST /City?$method=update [{"name":"Rome"},{"name":"rome"},{"name":"Ünlü","population":3}]
/City
/Company
/Employee?$orderby=employerID desc
/Employee?$filter="employer.name = zeta"
/Company?$filter="staff.lastName = noether"
/Company/revenues?$compute=$all
/Employee(1)?$method=entityset
/Employee?$method=entityset&$filter="salary > 1"&$orderby=salary
/$entityset/{set}
/$entityset/{set}?$filter="woman = true"
/$entityset/{set}?$orderby=lastName&$top=2
/Employee/$entityset/{set}?$compute=count
/Employee?$method=entityset&$filter="woman = true"
/Employee/$entityset/{set}?$logicOperator=AND&$otherCollection={set0}
/Employee/$entityset/{set}?$logicOperator=EXCEPT&$otherCollection={set0}
POST /Employee(4)?$method=delete
POST /Employee(2)?$method=delete
/Employee/$entityset/{set}
/Employee/$entityset/{set}?$clean=true
POST /Employee?$method=update {"ID":4,"lastName":"Again"}
/Employee/$entityset/{set}
DELETE /Employee?$filter="salary < 50000"
DELETE /Employee(77)
DELETE /City?$filter="population > 8000000"
DELETE /City?$filter="population > 80000000"
/Employee?$attributes=lastName,manager
/Employee?$filter="manager = null"
/City
ada /Company(1)?$lock=true
kurt /Company(1)?$lock=true
ada /Company(1)?$lock=true
kurt POST /Company?$method=update {"__KEY":"1","__STAMP":2,"revenues":9}
kurt DELETE /Company(4)
ada POST /Company?$method=update {"__KEY":"1","__STAMP":2,"revenues":9}
kurt /Company(1)?$lock=false
ada /Company(1)?$lock=false
ada /Company(1)?$lock=false
kurt POST /Company?$method=update {"__KEY":"1","__STAMP":3,"revenues":10}
ada /Company(77)?$lock=true
`

const RIGHTS = `
/Employee
hr /Employee
/Employee?$filter="salary > 1"
hr /Employee?$filter="salary > 1"
/Company?$filter="staff.salary > 1"
/Employee/salary?$compute=sum
hr /Employee/salary?$compute=sum
/Employee?$orderby=salary
/Tag
hr /Tag
DELETE /Tag(0000000000000000000000000000000A)
hr DELETE /Tag(0000000000000000000000000000000A)
POST /Company?$method=update {"__KEY":"1","__STAMP":1,"revenues":5}
hr POST /Company?$method=update {"__KEY":"1","__STAMP":1,"revenues":5}
/Company(1)?$lock=true
POST /City?$method=update {"name":"Oslo"}
hr POST /City?$method=update {"name":"Oslo"}
POST /City?$method=update {"__KEY":"Paris","__STAMP":1,"population":1}
hr POST /Employee?$method=update {"__KEY":"1","__STAMP":1,"employer":{"__KEY":"3"}}
`

/** Orders and aggregates from the store over a relation to memory, which are refused between places. */
const BETWEEN = `
/Employee?$orderby=employer.name
/Employee/employer.name?$distinct=true
/Employee/employer.revenues?$compute=$all
`

const METHOD = /^(?:(ada|kurt|hr) )?(?:(POST|DELETE) )?(.*?)(?: ([{[].*))?$/

/** Sends requests one after the other. @returns each with its answer, without times and names of sets */
async function answersOf(t: Test, text: string, inMemory: readonly string[], files = {}): Promise<string[]> {
  const backends = inMemory.length > 0 ? [memoryBackend(...inMemory)] : []
  const { ask } = await startConfigured(t, { fixture: FIXTURE, backends, files, ...QUIET })
  const session = async () => {
    const { headers } = await ask('/rest/City?$top=0')
    return { cookie: String(headers['set-cookie']).split(';')[0]!, 'user-agent': 'tests' }
  }
  const callers = { ada: await session(), kurt: await session(), hr: { authorization: `Bearer ${key}` } }
  const sets: string[] = []
  const answers: string[] = []
  for (const line of text.split('\n').filter(each => each !== '')) {
    const [, caller, method = 'GET', path, body] = METHOD.exec(line)!
    const address = path!.replace('{set}', sets.at(-1)!).replace('{set0}', sets[0]!)
    const headers = caller ? callers[caller as keyof typeof callers] : {}
    const answer = await ask(`/rest${address}`, { method, headers, ...(body !== undefined && { body }) })
    const [set] = /(?<="__ENTITYSET":"\/rest\/\w+\/\$entityset\/)\w{32}/.exec(answer.text) ?? []
    if (set) sets.push(set)
    const shown = answer.text
      .replaceAll(/(?<="__TIMESTAMP":)"[^"]*"|(?<="__GlobalStamp":)\d+|(?<=127\.0\.0\.1:)\d+/g, '0')
      .replaceAll(/(?<=\$entityset\/)\w{32}/g, id => `set${sets.indexOf(id)}`)
    answers.push(`${line}\n${answer.status} ${shown}`)
  }
  return answers
}

for (const [title, text, files] of [
  ['reads', READS, undefined],
  ['saves, deletions, entity sets and locks', WRITES, undefined],
  ['rights', RIGHTS, FILES],
] as const) {
  t.test(`${title}: dataclasses in memory answer as those in the store do`, async t => {
    const expected = await answersOf(t, text, [], files)
    for (const inMemory of PLACES) {
      const answers = await answersOf(t, text, inMemory, files)
      for (const [i, answer] of answers.entries()) t.equal(answer, expected[i], inMemory.join())
    }
  })
}

t.test('orders and aggregates lead from memory into the store, not from the store into memory', async t => {
  const expected = await answersOf(t, BETWEEN, [])
  for (const inMemory of [['Employee'], ['Company', 'Employee']])
    t.same(await answersOf(t, BETWEEN, inMemory), expected)
  for (const answer of await answersOf(t, BETWEEN, ['Company'])) t.match(answer, /\n400 .*from another place/)
})

t.test('back ends that the engine cannot use are refused', async t => {
  const { City } = FIXTURE.model.dataClasses
  const model = (storage: object) => ({ name: 'cities', dataClasses: { City: { ...City, ...storage } } })
  const modules = [{}] as unknown as NonNullable<EngineOptions['functions']>['modules']
  for (const [title, refusal, options] of [
    ['an unknown dataclass', /there is no such dataclass; did you mean "City"/, { backends: [memoryBackend('Citi')] }],
    [
      'two for a dataclass',
      /two back ends have its entities/,
      { backends: [memoryBackend('City'), memoryBackend('City')] },
    ],
    [
      'a table in a database',
      /City.storage: remove it; the program has a back end/,
      { model: model({ storage: { postgres: 'main' } }), backends: [memoryBackend('City')] },
    ],
    [
      'a place in a model file',
      /City.place: the server sets it; remove it from the file/,
      { model: model({ place: { isStore: false } }) },
    ],
    ['no dataclass', /a back end is given without dataclasses/, { backends: [memoryBackend()] }],
    [
      'plugin classes',
      /plugin classes cannot be used together/,
      { backends: [memoryBackend('City')], functions: { modules } },
    ],
  ] as const) {
    const whole = engineOptions({ path: t.testdir({}), model: model({}), ...options })
    await t.rejects(openEngine(whole), { message: refusal }, title)
  }
})

const ORDERS = (relation: object = {}) => ({
  name: 'orders',
  dataClasses: {
    Customer: { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string' }, ...relation } },
    Product: { key: 'ID', attributes: { ID: { type: 'long' }, name: { type: 'string' } } },
    Order: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        customerID: { type: 'long' },
        productID: { type: 'long' },
        customer: { kind: 'relatedEntity', type: 'Customer', foreignKey: 'customerID' },
        product: { kind: 'relatedEntity', type: 'Product', foreignKey: 'productID' },
      },
    },
  },
})

t.test('a request that leads to two back ends is refused, and one that leads to either is answered', async t => {
  const rows = {
    Customer: [{ ID: 1, name: 'c' }],
    Product: [{ ID: 1, name: 'p' }],
    Order: [{ ID: 1, customerID: 1, productID: 1 }],
  }
  const { ask } = await startConfigured(t, {
    fixture: { model: ORDERS(), rows },
    backends: [memoryBackend('Customer'), memoryBackend('Product')],
    ...QUIET,
  })
  for (const path of ['/Order?$expand=customer,product', '/Order?$filter="customer.name=c and product.name=p"']) {
    const { status, text } = await ask(`/rest${path}`)
    t.equal(status, 400, path)
    t.match(text, /A request that leads to two back ends is not possible with/)
  }
  for (const path of ['/Order?$filter="customer.name=c"', '/Order?$filter="product.name=p"']) {
    t.match(await ask(`/rest${path}`), { status: 200, text: /"__COUNT":1/ }, path)
  }
})

t.test('relations between two back ends are refused at the start', async t => {
  const model = ORDERS({
    productID: { type: 'long' },
    product: { kind: 'relatedEntity', type: 'Product', foreignKey: 'productID' },
  })
  const backends = [memoryBackend('Customer'), memoryBackend('Product')]
  await t.rejects(openEngine(engineOptions({ path: t.testdir({}), model, backends })), {
    message: /Customer.attributes.product: it leads to another back end/,
  })
})

t.test('back ends are closed when another one cannot be opened, and the store when one cannot be closed', async t => {
  const model = ORDERS()
  const path = t.testdir({})
  const closed: string[] = []
  const given = (name: string, faults: { open?: boolean; close?: boolean } = {}) => {
    const memory = memoryBackend(name)
    return {
      ...memory,
      open(surroundings: Parameters<typeof memory.open>[0]) {
        if (faults.open) throw new Error(`${name} cannot be opened`)
        const backend = memory.open(surroundings)
        return Object.assign(backend, {
          close: async () => {
            closed.push(name)
            if (faults.close) throw new Error(`${name} cannot be closed`)
          },
        })
      },
    }
  }
  const broken = [given('Customer'), given('Product', { open: true })]
  await t.rejects(openEngine(engineOptions({ path, model, backends: broken })), { message: 'Product cannot be opened' })
  t.same(closed.splice(0), ['Customer'])
  const engine = await openEngine(
    engineOptions({ path, model, backends: [given('Customer', { close: true }), given('Product')] }),
  )
  await t.rejects(engine.close(), { message: 'Customer cannot be closed' })
  t.same(closed, ['Customer', 'Product'])
  const again = await openEngine(engineOptions({ path, model, backends: [given('Customer'), given('Product')] }))
  await again.close()
})

t.test('a back end may be an object whose open uses this', async t => {
  class Given {
    readonly #memory = memoryBackend('Customer')
    readonly dataClasses = ['Customer']
    readonly place = this.#memory.place

    open(...surroundings: Parameters<ReturnType<typeof memoryBackend>['open']>) {
      return this.#memory.open(...surroundings)
    }
  }
  const engine = await openEngine(engineOptions({ path: t.testdir({}), model: ORDERS(), backends: [new Given()] }))
  await engine.close()
})
