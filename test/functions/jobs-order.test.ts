/** When jobs run: after a restart, beside other functions, and by the clock. */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { openGate } from '../support/services/gate.ts'
import { queuedPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'
import { enqueue, lines, settled, start, until } from './jobs-server.ts'

const CONFIG = {
  auth: { guestsAdministrate: true },
  plugins: [queuedPlugin],
  functions: { threads: 1, breakerLimit: 1_000 },
}

t.test('a server goes on with the jobs of the previous one', async t => {
  const folder = temporaryFolder(t)
  let time = Date.parse('2030-12-31T22:59:00Z')
  const now = () => time
  const gate = await openGate(t)
  const first = await start(t, { folder, now })
  const running = await enqueue(first, 'ds.asks', [gate.url, 'asked'])
  await gate.arrived()
  const later = await enqueue(first, 'ds.write', ['later'], { at: '2030-12-31T23:30:00Z' })
  await first.close()
  // A yearly time passes while no server runs.
  time = Date.parse('2031-01-01T01:00:00Z')
  gate.open('again', true)
  const second = await startServer(t, { ...company, rows: {} }, { folder, now, config: CONFIG })
  t.match(await until(second, running, 'done'), { attempts: 1 })
  await until(second, later, 'done')
  for (;;) if ((await second.get('/$jobs/done/ds.yearly')).json.jobs.length === 1) break
  t.same((await lines(second)).sort(), ['asked', 'later', 'yearly'])
})

t.test(
  'a job that waits for a thread is cancelled, and one that waits when the server stops runs afterwards',
  async t => {
    const folder = temporaryFolder(t)
    const first = await start(t, { folder })
    // Only this thread of functions could enqueue; the kernel can replay meanwhile.
    const prepared = async (name: string, args: unknown[] = []) => {
      const id = await enqueue(first, name, args, { at: '2100-01-01' })
      await first.post(`/$jobs/${id}/cancel`)
      return id
    }
    const holds = async () => until(first, await enqueue(first, 'ds.blocks', [600]), 'running')
    const replay = async (id: string) => {
      await first.post(`/$jobs/${id}/replay`)
      await until(first, id, 'running')
    }
    const cancelled = await prepared('ds.who')
    const waiting = await prepared('ds.write', ['late'])
    const single = await prepared('ds.shows', ['once'])
    await holds()
    await replay(cancelled)
    await first.post(`/$jobs/${cancelled}/cancel`)
    await until(first, cancelled, 'cancelled')
    await replay(waiting)
    await replay(single)
    await first.close()
    const second = await startServer(t, { ...company, rows: {} }, { folder, config: CONFIG })
    await until(second, waiting, 'done')
    t.match(await until(second, single, 'done', 'failed'), { state: 'done', attempts: 1 })
    t.same((await lines(second)).sort(), ['"once"', 'late'])
  },
)

t.test('of all functions, the jobs with the highest priority run first, then the oldest', async t => {
  const jobs = { plugin: 'tesser/plugins/jobs', options: { concurrency: 1 } }
  const config = { ...CONFIG, plugins: [jobs, queuedPlugin] }
  const server = await startServer(t, company, { config })
  const gate = await openGate(t)
  await enqueue(server, 'ds.asks', [gate.url, 'asked'])
  await gate.arrived()
  await enqueue(server, 'ds.write', ['1'])
  await enqueue(server, 'Order.ship', [2])
  await enqueue(server, 'ds.write', ['3'])
  await enqueue(server, 'ds.one', ['first'], { priority: 99 })
  gate.open()
  await settled(server)
  t.same(await lines(server), ['asked', 'first', '1', 'shipped 2 false', '3'])
})

t.test('a clock that was ahead once delays no schedule', async t => {
  const folder = temporaryFolder(t)
  const next = async (time: string, rows: object) => {
    const now = () => Date.parse(time)
    const server = await startServer(t, { ...company, ...rows }, { folder, now, config: CONFIG })
    for (;;) {
      const { functions } = (await server.get('/$jobs')).json
      const [{ next } = {}] = functions.find(({ job }: { job: string }) => job === 'ds.yearly').schedules
      if (next === undefined) continue
      await server.close()
      return next
    }
  }
  t.equal(await next('2040-06-01T00:00:00Z', {}), '2040-12-31T23:00:00.000Z')
  // The first answer may come before the times are compared.
  let found = ''
  while (found !== '2030-12-31T23:00:00.000Z') found = await next('2030-06-01T00:00:00Z', { rows: {} })
  t.pass('it is computed again')
})
