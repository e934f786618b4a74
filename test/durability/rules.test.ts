import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { LiveServer } from '../support/servers/live-server.ts'

const CYCLES = process.env.TESSER_TEST_LONG ? 100 : 3
const CLIENTS = 8
const ACCOUNTS = 10
const random = randomOf(seedOf(41))
t.setTimeout(timeoutMs)

interface Transfer {
  readonly ID: number
  readonly amount: number
  readonly fromID: number
  readonly toID: number
  readonly job: string | null
}

t.test('balances fit the transfers, of clients and of jobs, whenever the server is killed', async t => {
  const folder = t.testdir()
  const server = new LiveServer('rules.child.js', () => [folder])
  const send = async (path: string, body?: object) => {
    const { status, bytes } = await server.send(body ? 'POST' : 'GET', path, body)
    return { status, json: JSON.parse(bytes.toString()) }
  }
  const acknowledged: number[] = []
  const transfer = async (i: number): Promise<void> => {
    for (let n = i; ; n++) {
      const body = { amount: 1 + (n % 7), from: 1 + (n % ACCOUNTS), to: 1 + ((n + 1 + i) % ACCOUNTS) }
      const { status, json } = await send('/Transfer?$method=update', body)
      if (status === 200) acknowledged.push(json.ID)
    }
  }
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await server.start()
    if (cycle === 0) {
      const accounts = Array.from({ length: ACCOUNTS }, () => ({ owner: 'Ada', limit: -1_000_000 }))
      t.equal((await send('/Account?$method=update', accounts)).status, 200)
    }
    t.same((await send('/Account/collect', [1, 5])).json, { result: ACCOUNTS - 1 })
    const enough = acknowledged.length + random.integer(10, 120)
    // Requests that are under way fail when the server is killed.
    const clients = Array.from({ length: CLIENTS }, (_, i) => transfer(i).catch(() => {}))
    while (acknowledged.length < enough) await new Promise(resolve => setTimeout(resolve, 1))
    await server.kill()
    await Promise.all(clients)
  }
  await server.start()
  t.teardown(() => server.stop())
  for (;;) {
    const { counts } = (await send('/$jobs')).json
    if (counts.waiting + counts.ready + counts.running === 0) break
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  const all = '$asArray=true&$top=1000000'
  const transfers: Transfer[] = (await send(`/Transfer/ID,amount,fromID,toID,job?${all}`)).json
  const accounts: { ID: number; balance: number }[] = (await send(`/Account/ID,balance?${all}`)).json
  const expected = new Map(accounts.map(({ ID }) => [ID, 0]))
  for (const { amount, fromID, toID } of transfers) {
    expected.set(fromID, expected.get(fromID)! - amount)
    expected.set(toID, expected.get(toID)! + amount)
  }
  t.same(
    accounts.map(({ ID, balance }) => [ID, balance]),
    [...expected],
  )
  const saved = new Set(transfers.map(({ ID }) => ID))
  t.same(
    acknowledged.filter(ID => !saved.has(ID)),
    [],
    `all ${acknowledged.length} acknowledged transfers are there`,
  )
  t.equal(transfers.filter(({ job }) => job).length, CYCLES * (ACCOUNTS - 1), 'each job has made one transfer')
})
