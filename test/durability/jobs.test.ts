import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { LiveServer } from '../support/servers/live-server.ts'

const CYCLES = process.env.TESSER_TEST_LONG ? 200 : 3
const CLIENTS = 8
const random = randomOf(seedOf(40))
t.setTimeout(timeoutMs)

t.test('every job that was enqueued with a save runs, and none of one that was undone, whatever is killed', async t => {
  const folder = t.testdir()
  const server = new LiveServer('jobs.child.js', () => [folder])
  const acknowledged = new Set<number>()
  let last = 0
  const write = async (enough: number): Promise<void> => {
    while (acknowledged.size < enough) {
      const ID = ++last
      const [saved] = await Promise.all([
        server.send('POST', '/Order?$method=update', { ID, state: 'new' }),
        server.send('POST', '/$catalog/transacts', ['undone']),
      ])
      if (saved!.status === 200) acknowledged.add(ID)
    }
  }
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await server.start()
    const enough = acknowledged.size + random.integer(10, 120)
    // Requests that are under way fail when the server is killed.
    const clients = Array.from({ length: CLIENTS }, () => write(Number.POSITIVE_INFINITY).catch(() => {}))
    while (acknowledged.size < enough) await new Promise(resolve => setTimeout(resolve, 1))
    await server.kill()
    await Promise.all(clients)
  }
  await server.start()
  t.teardown(() => server.stop())
  const get = async (path: string) => JSON.parse((await server.send('GET', path)).bytes.toString())
  for (;;) {
    const { counts } = await get('/$jobs')
    if (counts.waiting + counts.ready + counts.running === 0) break
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  const all = '$asArray=true&$top=1000000'
  const orders: { ID: number }[] = await get(`/Order/ID?${all}`)
  const lines: { text: string }[] = await get(`/Line/text?${all}`)
  const texts = new Set(lines.map(({ text }) => text))
  const saved = new Set(orders.map(({ ID }) => ID))
  t.same(
    [...acknowledged].filter(ID => !saved.has(ID)),
    [],
    `all ${acknowledged.size} acknowledged orders are there`,
  )
  t.same(
    [...saved].filter(ID => !texts.has(`shipped ${ID} true`)),
    [],
    'the job of each order has run',
  )
  const shipped = [...texts].flatMap(text => (/^shipped (\d+) /.exec(text)?.[1] ?? []) as string | [])
  t.same(
    shipped.filter(ID => !saved.has(Number(ID))),
    [],
    'and no job of another one',
  )
  t.notOk(texts.has('job undone') || texts.has('saved undone'), 'nothing of what was undone')
})
