/** Tasks of plugins for the threads of the pool: rights, bounds, errors, and the thread in which they run. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { until } from '../support/base/until.ts'
import { createTestServer, type TestServer, type TestServerOptions } from '../../kernel/testing.ts'

/** `/rest/$task/name?$params=…` runs a task with the rights of the client, on all entities that `$filter` selects. */
const INDEX = `import { definePlugin, encoded } from 'tesser'
export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  tasks: { it: new URL('./task.ts', import.meta.url) },
  register({ service, engine, applyParameters, parameter }) {
    parameter('$run', { schema: { type: 'string' }, doc: 'What runs.' })
    service('$task', { verbs: ['GET'] }, request => {
      applyParameters(request)
      const [name, dataClass, ...args] = request.parts
      return encoded(engine.runTask('acme/it', { ...request.read, dataClass }, { name, args }, request.transport))
    })
  },
})`
const TASK = `import type { TaskFunction } from 'tesser'
const tasks: Record<string, (store: any, args: string[]) => unknown> = {
  values(store, [attribute]) {
    const values: unknown[] = []
    store.select().forEach(attribute, (value: unknown) => values.push(value))
    return values
  },
  other: store => store.select({ ...store.request, dataClass: 'Company', access: undefined }).size,
  read: store => store.read(),
  distinct: (store, [attribute]) => store.run('distinct', { items: [{ path: [attribute] }] }),
  names: store => store.view.dataClasses.map((each: any) => each.name),
  examines(store) { for (;;) store.examine(1_000) },
  loops() { for (;;); },
  refuses() { throw { errCode: 9001, message: 'not today', httpStatus: 409 } },
  fails() { throw new TypeError('it broke') },
  waits: async () => 1,
  throwsLater() {
    setTimeout(() => { throw null })
    return 1
  },
  nothing() {},
  large: () => 'x'.repeat(2_000_000),
  bytes: () => Buffer.from('{"own":true}'),
}
export default ((store, { name, args }) => tasks[name]!(store, args)) satisfies TaskFunction<{ name: string; args: string[] }>
`
const CLASSES = `import { calculated, DataClass, Entity, event } from 'tesser/classes'
export class Employee extends DataClass('Employee') {
  @event('restrict') mine() { return this.query('salary > 1000') }
}
export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'string' }) get shout() { return this.lastName!.toUpperCase() }
}
`

function folderOf(t: Test, files: Record<string, string> = {}): string {
  return t.testdir({ 'index.ts': INDEX, 'task.ts': TASK, ...files })
}

async function start(t: Test, options: Partial<TestServerOptions> = {}, files?: Record<string, string>) {
  const plugins = [join(folderOf(t, files), 'index.ts')]
  const server = await createTestServer({ model: company.model, data: company.rows, plugins, ...options })
  t.teardown(() => server.close())
  return server
}

const run = (server: Pick<TestServer, 'get'>, path: string) => server.get(`/rest/$task/${path}`)

t.test('a task reads what its request selects', async t => {
  const server = await start(t)
  t.strictSame((await run(server, 'values/Company/name?$filter="ID<3"')).json, ['Acme', 'Éclair'])
  t.strictSame((await run(server, 'values/Employee/employer.name?$filter="ID=1"')).json, ['Acme'])
  t.match((await run(server, 'values/Company/founded?$filter="ID=1"')).json, [Number])
  t.equal((await run(server, 'read/Company?$filter="ID=1"')).json.__COUNT, 1)
  t.strictSame((await run(server, 'distinct/Company/active')).json, [false, true])
  t.strictSame((await run(server, 'bytes/Company')).json, { own: true })
  t.equal((await run(server, 'other/Employee')).json, company.rows.Company!.length)
})

t.test('a task has the rights of its caller, whatever access it puts into a request', async t => {
  const server = await start(t, {
    roles: {
      privileges: [{ privilege: 'staff' }, { privilege: 'companies' }],
      permissions: {
        allowed: [
          { applyTo: 'Employee', type: 'dataclass', read: ['staff'] },
          { applyTo: 'Company', type: 'dataclass', read: ['companies'] },
          { applyTo: 'Employee.salary', type: 'attribute', read: ['companies'] },
        ],
      },
    },
    users: { ada: { privileges: ['staff'] }, kurt: { privileges: ['staff', 'companies'] } },
  })
  const [ada, kurt] = [server.as('ada'), server.as('kurt')]
  t.equal((await run(kurt, 'other/Employee')).status, 200)
  for (const path of ['other/Employee', 'values/Company/name', 'read/Company', 'values/Employee/salary']) {
    t.equal((await run(ada, path)).status, 404, path)
    t.equal((await run(kurt, path)).status, 200, path)
  }
  t.equal((await run(ada, 'values/Employee/employer.name')).status, 404)
  t.notOk((await run(ada, 'names/Employee')).json.includes('Company'))
  t.equal((await run(server, 'read/Employee')).status, 404, 'a guest')
  t.equal((await run(kurt, 'values/Employee/secret')).status, 404, 'a private attribute')
})

t.test('restrict events and calculated attributes apply: such a task runs where their code is', async t => {
  const index = INDEX.replace('tasks:', `classes: new URL('./classes.ts', import.meta.url),\n  tasks:`)
  const model = structuredClone(company.model) as { dataClasses: { Employee: { attributes: Record<string, unknown> } } }
  const server = await start(t, { model }, { 'index.ts': index, 'classes.ts': CLASSES })
  const { json } = await run(server, 'values/Employee/salary')
  t.ok(json.length > 0)
  t.ok(json.every((salary: number) => salary > 1_000))
  t.equal((await run(server, 'read/Employee')).json.__COUNT, json.length)
  t.ok((await run(server, 'values/Employee/shout')).json.every((name: string) => name === name.toUpperCase()))
  t.strictSame((await run(server, 'bytes/Employee')).json, { own: true })
  t.equal((await run(server, 'refuses/Employee')).status, 409)
  t.equal((await run(server, 'values/Company/name')).status, 200)
})

t.test('the bounds of queries apply to a task', async t => {
  const server = await start(t, { config: { query: { maxRowsExamined: 100_000, maxAnswerBytes: '1 MiB' } } })
  t.equal((await run(server, 'examines/Company')).status, 413)
  t.equal((await run(server, 'large/Company')).status, 413)
})

t.test('the thread of an endless task is ended, and another one takes over', async t => {
  // Without rows: the reads that adding them needs would have to meet this timeout, too.
  const config = { query: { timeoutMs: 2_000 }, pool: { threads: 1, overrunMs: 100 } }
  const server = await start(t, { config, data: {} })
  t.equal((await run(server, 'loops/Company')).status, 503)
  t.ok(await until(async () => (await run(server, 'values/Company/ID')).status === 200))
})

t.test('an error that a task throws goes to the client if it has an errCode, otherwise to the log', async t => {
  const server = await start(t)
  const refused = await run(server, 'refuses/Company')
  t.match(refused, { status: 409, json: { __ERROR: [{ errCode: 9001, message: 'not today' }] } })
  for (const name of ['fails', 'waits', 'nothing']) {
    const { status, text } = await run(server, `${name}/Company`)
    t.equal(status, 500, name)
    t.notMatch(text, /broke|promise/)
  }
})

t.test('an error thrown after the end of a task ends only its thread', async t => {
  const server = await start(t)
  for (let i = 0; i < 3; i++) {
    t.equal((await run(server, 'throwsLater/Company')).json, 1)
    // The thread may end during this request.
    await run(server, 'other/Employee')
    t.ok(await until(async () => (await run(server, 'other/Employee')).status === 200))
  }
})

t.test('a task that cannot be loaded stops the start, with its plugin and file', async t => {
  const files = (task: string) => ({ plugins: [join(folderOf(t, { 'task.ts': task }), 'index.ts')] })
  const options = { model: company.model }
  await t.rejects(createTestServer({ ...options, ...files(`throw new Error('no luck')`) }), {
    message: /plugin acme: the task .*task\.ts cannot be loaded: no luck/,
  })
  await t.rejects(createTestServer({ ...options, ...files('export const histogram = 1') }), {
    message: /plugin acme: the task .*task\.ts cannot be loaded: its default export is not a function/,
  })
  await t.rejects(createTestServer({ ...options, ...files('export default (') }), {
    message: /plugin acme: .*task\.ts/,
  })
})
