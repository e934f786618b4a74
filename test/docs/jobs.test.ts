/** `plugins/docs/pages/guide/jobs.md`: a server with its class and its jobs answers as the page says; and what the guide says of keys in `saving`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createTestServer, type TestServer } from '../../kernel/testing.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'

const PAGE = 'plugins/docs/pages/guide/jobs.md'
const [, source] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(PAGE, 'utf8'))!
const Order = { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, state: { type: 'string' } } }

async function start(t: Test, classes: string, data = {}): Promise<TestServer> {
  const folder = t.testdir({
    'index.js': `export default { name: 'acme-shop', kernel: '^1.0.0', classes: new URL('./orders.ts', import.meta.url), register() {} }`,
    'orders.ts': classes,
  })
  const server = await createTestServer({
    model: { name: 'shop', dataClasses: { Order } },
    data,
    plugins: [join(folder, 'index.js')],
    // One thread, since each has its own variables.
    config: { auth: { guestsAdministrate: true }, functions: { threads: 1 }, log: { level: 'silent' } },
  })
  t.teardown(() => server.close())
  return server
}

/** Waits until a job is as expected. */
async function until(server: TestServer, id: string, isSo: (job: { state: string; progress?: unknown }) => boolean) {
  while (!isSo((await server.get(`/rest/$jobs/${id}`)).json)) await new Promise(resolve => setTimeout(resolve, 10))
}

const order = (key: string): string => JSON.stringify([{ __ENTITY: true, __DATACLASS: 'Order', __KEY: key }])
const [FAILED, WAITING, RUNNING, DONE] = ['00', '01', '02', '03'].map(
  number => `01a21eb43c320000${number}b57bbf51847c52`,
) as [string, string, string, string]

t.test('the requests of the page are answered as it says', async t => {
  const server = await start(t, source!, { Order: [{ state: 'new' }, { state: 'new' }] })
  const ship = { name: 'Order.ship', entities: [0], priority: 0 }
  const { jobs } = server.engine
  await jobs.enqueue({ ...ship, id: FAILED, args: order('1'), key: 'ship 1' })
  await jobs.enqueue({ ...ship, id: WAITING, args: order('2'), at: Date.now() + 86_400_000 })
  await jobs.enqueue({ id: RUNNING, name: 'Order.report', args: '[]', priority: 0 })
  await jobs.enqueue({ ...ship, id: DONE, args: order('2') })
  await until(server, FAILED, ({ state }) => state === 'failed')
  await until(server, RUNNING, ({ progress }) => progress !== undefined)
  await until(server, DONE, ({ state }) => state === 'done')
  const tour = tourOf(PAGE)
  t.equal(tour.length, 11)
  await followTour(t, server.url, tour)
})

t.test('a key of a new entity is null in saving, so only one job has it', async t => {
  const server = await start(
    t,
    `import { DataClass, ds, Entity, event, exposed, job } from 'tesser/classes'
     const ids: string[] = []
     export class Order extends DataClass('Order') {
       @job ship() {}
       @exposed ids() { return ids }
     }
     export class OrderEntity extends Entity('Order') {
       @event('saving') greet() {
         ids.push(ds.enqueue(Order.prototype.ship, [this], { key: \`ship \${this.ID}\` }))
       }
     }`,
  )
  await server.post('/rest/Order?$method=update', [{ state: 'a' }, { state: 'b' }])
  const ids = (await server.post('/rest/Order/ids', [])).json.result
  const answers = await Promise.all(ids.map((id: string) => server.get(`/rest/$jobs/${id}`)))
  t.same(
    answers.map(({ status, json }) => [status, json.key, json.args?.[0].__KEY]),
    [
      [200, 'ship null', '1'],
      [404, undefined, undefined],
    ],
  )
})
