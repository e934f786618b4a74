/** Probes of databases: how many there are, and what callers get meanwhile. */
import t from 'tap'
import { DatabaseProbes } from '../../../../engine/postgres/run/database-probes.ts'
import type { Probe } from '../../../../engine/postgres/run/probe.ts'

const READY: Probe = { unreadable: [] }

/** Probes that end when the test says so. */
function world(waitMs = 60_000) {
  const open: { connection: string; end(probe: Probe): void; fail(error: Error): void }[] = []
  const clock = { now: 0 }
  const probes = new DatabaseProbes({
    connections: ['main', 'crm'],
    probe: (connection, signal) =>
      new Promise((end, fail) => {
        open.push({ connection, end, fail })
        signal.addEventListener('abort', () => fail(new Error('closed')))
      }),
    now: () => clock.now,
    waitMs,
  })
  const endAll = (): void => {
    for (const { end } of open.splice(0)) end(READY)
  }
  return { probes, open, clock, endAll }
}

t.test('callers share one probe of each database, and its result for a second', async t => {
  const { probes, open, clock, endAll } = world()
  const callers = Array.from({ length: 100 }, () => probes.states())
  t.same(
    open.map(({ connection }) => connection),
    ['main', 'crm'],
  )
  endAll()
  const ready = [
    { name: 'main', status: 'ready' },
    { name: 'crm', status: 'ready' },
  ]
  for (const states of await Promise.all(callers)) t.same(states, ready)
  clock.now = 999
  t.same(await probes.states(), ready)
  t.equal(open.length, 0, 'no probe yet')
  clock.now = 1_000
  const next = probes.states()
  t.equal(open.length, 2)
  endAll()
  t.same(await next, ready)
})

t.test('what a probe finds', async t => {
  const { probes, open } = world()
  const states = probes.states()
  const unreadable = [{ dataClass: 'Film', reason: 'there is no table' }]
  open[0]!.end({ unreadable })
  open[1]!.end({ problem: 'connect ECONNREFUSED', unreadable: [] })
  t.same(await states, [
    { name: 'main', status: 'incomplete', unreadable },
    { name: 'crm', status: 'unavailable', reason: 'connect ECONNREFUSED' },
  ])
})

t.test('a probe that fails', async t => {
  const { probes, open } = world()
  const states = probes.states()
  for (const { fail } of open) fail(new Error('the thread has ended'))
  t.match(await states, [
    { name: 'main', status: 'unavailable', reason: 'the thread has ended' },
    { name: 'crm', status: 'unavailable' },
  ])
})

t.test('a probe that takes too long is the last one until it ends', async t => {
  const { probes, open, endAll, clock } = world(1)
  t.match(await probes.states(), [
    { name: 'main', status: 'unavailable', reason: /does not answer in time/ },
    { name: 'crm', status: 'unavailable' },
  ])
  clock.now = 10_000
  t.match(await probes.states(), [{ status: 'unavailable' }, { status: 'unavailable' }])
  t.equal(open.length, 2, 'there is no further probe of a database that hangs')
  endAll()
  await new Promise(setImmediate)
  t.match(await probes.states(), [{ status: 'ready' }, { status: 'ready' }], 'a late result counts')
  t.equal(open.length, 0)
})

t.test('closing ends probes', async t => {
  const { probes } = world()
  const states = probes.states()
  probes.close()
  t.match(await states, [{ status: 'unavailable' }, { status: 'unavailable' }])
})
