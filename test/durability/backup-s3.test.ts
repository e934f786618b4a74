/** Backups in a bucket: what is restored equals the store, while requests fail. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifyBackup } from '../../engine/storage/backup/verify-backup.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import type { Fault } from '../support/services/s3/s3-server.ts'
import { differences } from '../support/base/differences.ts'
import { openLogged } from '../support/engine/logged-store.ts'
import { KEEP_ALL, MAP, PART_BYTES, PREFIX, World } from './backup-s3-world.ts'

t.setTimeout(timeoutMs)

t.test('copies, increments, moments, retention and verification', async t => {
  const random = randomOf(seedOf(61))
  const world = await World.make(t)
  const { server } = world
  const store = await openLogged(world.path, KEEP_ALL)
  const states: { name: string; kind: string; content: Map<string, string> }[] = []
  for (const full of [true, false, false, true, false]) {
    store.write(random, 40)
    const { name, kind } = await world.backUp({ full })
    states.push({ name, kind, content: await world.content() })
  }
  t.same(
    states.map(({ kind }) => kind),
    ['full', 'increment', 'increment', 'full', 'increment'],
  )
  for (const { name, content } of states) {
    await world.restore({ backup: name })
    t.same(differences(content, await world.restored()), [], name)
  }
  t.ok(server.log.some(line => line.endsWith('?partNumber')))
  t.ok(server.largestBody <= PART_BYTES, 'parts are bounded')
  t.same(world.left(), [])
  const content = await world.content()
  const time = Date.now()
  await new Promise(resolve => setTimeout(resolve, 2))
  store.write(random, 20)
  await world.backUp()
  await world.restore({ at: { time }, allowLoss: true })
  t.same(differences(content, await world.restored()), [])
  const { problems } = await verifyBackup({ storage: world.storage(), ...MAP })
  t.same(
    problems.filter(text => !text.startsWith('entity set')),
    [],
  )
  const { removed } = await world.backUp({ full: true, keepDays: 0 })
  t.equal(removed.length, 6)
  await store.close()
  const needed = (await world.restore()) && readdirSync(join(world.other, 'files')).length
  t.ok(needed > 0)
  t.equal(server.keys(`${PREFIX}/blobs/`).length, needed)
})

t.test('a fault of any request is survived', async t => {
  const random = randomOf(seedOf(62))
  const world = await World.make(t)
  const { server } = world
  server.pageSize = 1000
  const store = await openLogged(world.path, KEEP_ALL)
  store.write(random, 30)
  await world.backUp()
  const content = await world.content()
  const before = new Map(server.objects)
  const first = server.log.length
  await world.backUp({ full: true, keepDays: 0 })
  const requests = server.log.length - first
  /** Runs a backup for some of its requests, other ones for each fault. */
  const forRequests = async (fault: Fault, work: (n: number, what: string) => Promise<void>): Promise<void> => {
    const step = isLong ? 1 : Math.ceil(requests / 4)
    for (let i = random.integer(0, step - 1); i < requests; i += step) {
      for (const key of server.keys('')) server.objects.delete(key)
      for (const [key, object] of before) server.objects.set(key, object)
      await work(server.log.length + i, `${fault} of request ${i} of ${requests}`)
      server.fault = () => undefined
      t.same(world.left(), [], `${fault} of request ${i} of ${requests}`)
    }
  }
  // A request that is sent once more is enough.
  for (const fault of ['busy', 'cut', 'lost', 'middle', 'damaged', 'late'] as const) {
    await forRequests(fault, async n => {
      server.fault = i => (i === n && !(fault === 'damaged' && server.log[i]!.startsWith('GET')) ? fault : undefined)
      await world.backUp({ full: true, keepDays: 0 })
    })
  }
  await world.restore()
  t.same(differences(content, await world.restored()), [])
  // From one request on all fail: the backup fails, what is there stays, and the next one is made.
  for (const fault of ['busy', 'cut', 'denied'] as const) {
    await forRequests(fault, async (n, what) => {
      server.fault = i => (i >= n ? fault : undefined)
      const outcome = await world.backUp({ full: true, keepDays: 0 }).catch((error: unknown) => error as Error)
      // The last requests remove old backups, and the lock.
      if (outcome instanceof Error)
        t.match(outcome, { name: 'BackupError', message: /^s3:.*(SlowDown|ECONNRESET|hang up|EPIPE|no right)/ }, what)
      server.fault = () => undefined
      if (isLong) await world.restore()
      await world.backUp()
    })
    await world.restore()
    t.same(differences(content, await world.restored()), [])
  }
  await store.close()
})

t.test('downloads go on where they broke', async t => {
  const random = randomOf(seedOf(63))
  const world = await World.make(t)
  const { server } = world
  const store = await openLogged(world.path, KEEP_ALL)
  store.write(random, 60)
  await world.backUp()
  const content = await world.content()
  await store.close()
  for (const hasRanges of [true, false]) {
    server.hasRanges = hasRanges
    let n = 0
    // Every second answer is cut.
    server.fault = (_, line) => (line.startsWith('GET') && n++ % 2 === 0 ? 'middle' : undefined)
    await world.restore()
    t.same(differences(content, await world.restored()), [])
  }
  server.fault = (_, line) => (line.endsWith('data.mdb') ? 'damaged' : undefined)
  await t.rejects(world.restore(), {
    name: 'BackupError',
    message: /data\.mdb is damaged: its content does not have the digest/,
  })
  server.fault = (_, line) => (line.endsWith('data.mdb') ? 'cut' : undefined)
  await t.rejects(world.restore(), { name: 'BackupError', message: /cannot be reached at 127/ })
  t.notOk(existsSync(world.other))
})
