/** Connections in use, with a double of the driver's pool. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { type Client, Clients } from '../../../../engine/postgres/database/clients.ts'

const WAIT_MS = 60_000

class FakeClient extends EventEmitter {
  /** `kept` and `closed`: how the connection returned to the pool. */
  readonly returned: string[] = []

  release(isClosed?: boolean): void {
    this.returned.push(isClosed ? 'closed' : 'kept')
  }
}

class FakePool extends EventEmitter {
  readonly made: FakeClient[] = []
  isEnded = false

  async connect(): Promise<FakeClient> {
    const client = new FakeClient()
    this.made.push(client)
    this.emit('connect', client)
    return client
  }

  async end(): Promise<void> {
    this.isEnded = true
  }
}

function open(size = 2) {
  const pool = new FakePool()
  const clients = new Clients(pool as never, size, WAIT_MS, () => new Error('busy'))
  const take = async (): Promise<Client & FakeClient> => (await clients.take()) as Client & FakeClient
  return { pool, clients, take }
}

t.test('the next statement takes a connection that was given back', async t => {
  const { pool, clients, take } = open()
  const client = await take()
  clients.give(client, false)
  t.equal(await take(), client)
  t.equal(pool.made.length, 1)
})

for (const event of ['error', 'end']) {
  t.test(`a connection that is lost in use (${event}) is closed when it is given back`, async t => {
    const { pool, clients, take } = open()
    const client = await take()
    client.emit(event, new Error('lost'))
    t.same(client.returned, [], 'it is still in use')
    clients.give(client, false)
    t.same(client.returned, ['closed'])
    t.not(await take(), client)
    t.equal(pool.made.length, 2)
  })

  t.test(`a connection that is lost while it is unused (${event}) is closed once`, async t => {
    const { clients, take } = open(1)
    const client = await take()
    clients.give(client, false)
    client.emit(event, new Error('lost'))
    client.emit('end')
    t.same(client.returned, ['closed'])
    t.not(await take(), client, 'there is room for another one')
  })
}

t.test('a statement that waits gets a new connection in place of a lost one', async t => {
  const { pool, clients, take } = open(1)
  const client = await take()
  const waiting = take()
  client.emit('end')
  clients.give(client, false)
  t.equal(await waiting, pool.made[1])
  t.same(client.returned, ['closed'])
})

t.test(
  'statements that wait are refused at the end, and connections in use are kept until they are given back',
  async t => {
    const { pool, clients, take } = open(1)
    const client = await take()
    const waiting = [take(), take()]
    await Promise.all([clients.close(), ...waiting.map(each => t.rejects(each, { message: 'busy' }))])
    t.equal(pool.isEnded, true)
    t.same(client.returned, [])
    clients.give(client, false)
    t.same(client.returned, ['kept'])
    t.equal(pool.made.length, 1, 'nobody is waiting')
  },
)

t.test('unused connections return to the pool at the end', async t => {
  const { clients, take } = open()
  const client = await take()
  clients.give(client, false)
  await clients.close()
  t.same(client.returned, ['kept'])
})
