import t, { type Test } from 'tap'
import { openEnvironment } from '../../../../engine/storage/environment.ts'
import type { SaveRequest } from '../../../../engine/write/contract/requests.ts'
import { WriterClient, type WriterClientOptions } from '../../../../engine/write/client/writer-client.ts'
import { ISO, model, saveRequest } from '../../../support/engine/test-store.ts'

const start = async (t: Test, options: Partial<WriterClientOptions> = {}): Promise<WriterClient> => {
  const client = await WriterClient.start({
    path: t.testdirName,
    mapSizeBytes: 2 ** 30,
    model,
    wire: ISO,
    allowLoss: false,
    ...options,
  })
  t.teardown(() => client.close())
  return client
}
const city = (name: string): SaveRequest => saveRequest('City', { name }) as SaveRequest

t.test('concurrent saves are grouped and each gets its own answer', async t => {
  t.testdir()
  const client = await start(t)
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => client.write(city(`City ${i}`))))
  t.same(
    results.map(result => result.entities[0]!.rowId),
    [...results.keys()],
  )
  for (const [i, { entities }] of results.entries()) {
    t.ok(Buffer.from(entities[0]!.row!).includes(`"__KEY":"City ${i}"`))
  }
  const environment = openEnvironment({ path: t.testdirName, mapSizeBytes: 2 ** 30 })
  t.equal([...environment.rows.getKeys()].length, 50)
  t.ok([...environment.changes.getKeys()].length < 50, 'fewer commits than requests')
  t.match(await client.write({ kind: 'delete', dataClass: 'City', rowIds: Uint32Array.of(3), atomic: false }), {
    deleted: 1,
  })
  await client.close()
  environment.root.resetReadTxn()
  t.equal([...environment.rows.getKeys()].length, 49, 'the environment of another thread stays usable')
  await environment.close()
})

t.test('an error crosses the thread with its code and status', async t => {
  t.testdir()
  const client = await start(t)
  await t.rejects(client.write({ ...city('x'), body: Buffer.from('{') }), { name: 'ENGINE.BAD_JSON', httpStatus: 400 })
  const { entities } = await client.write(saveRequest('Company', { name: 'A' }) as SaveRequest)
  t.match(entities[0]!.failure, { status: { status: 4 }, error: { entries: [{ errCode: 1591 }, { errCode: 1534 }] } })
})

t.test('a body that is a part of a larger buffer is sent alone, and the buffer is not changed', async t => {
  t.testdir()
  const client = await start(t)
  const pool = Buffer.from('xxxx{"name":"Oslo"}yyyy')
  await client.write({ ...city(''), body: pool.subarray(4, -4) })
  t.equal(pool.toString(), 'xxxx{"name":"Oslo"}yyyy')
})

t.test('requests or bytes beyond the limits of the queue are refused with 503 and Retry-After', async t => {
  t.testdir()
  const client = await start(t, { maxWaiting: 2, maxWaitingBytes: 100 })
  const first = [client.write(city('a')), client.write(city('b'))]
  await t.rejects(client.write(city('c')), { name: 'WRITER.BUSY', httpStatus: 503, retryAfterSeconds: 1 })
  await Promise.all(first)
  const large = client.write(city('x'.repeat(200)))
  await t.rejects(client.write(city('d')), { name: 'WRITER.BUSY' })
  t.ok((await large).entities[0]!.row, 'a single large one is accepted')
  await client.write(city('d'))
})

t.test('close finishes pending requests and refuses later ones', async t => {
  t.testdir()
  const client = await start(t)
  const pending = client.write(city('Oslo'))
  const closed = client.close()
  t.notOk(client.isRunning)
  await t.rejects(client.write(city('Rome')), { name: 'WRITER.CLOSED', httpStatus: 503 })
  t.ok((await pending).entities[0]!.row)
  await closed
})

t.test('a second writer for the same store is refused, and a later one is not', async t => {
  t.testdir()
  const client = await start(t)
  await t.rejects(start(t), { message: /in use by process/ })
  await client.write(city('Oslo'))
  await client.close()
  const next = await start(t)
  t.equal((await next.write(city('oslo'))).entities[0]!.failure?.error.httpStatus, 409)
})

t.test('a wrong model is refused with all its problems', async t => {
  t.testdir()
  await t.rejects(start(t, { model: { name: 'x', dataClasses: { A: { key: 'ID', attributes: {} } } } }), {
    name: 'ModelError',
    problems: [String],
  })
})

const DEATH = 'a thread that dies is replaced; pending saves fail with an unknown outcome'
for (const [name, log] of [
  [DEATH, undefined],
  [`with a log, ${DEATH}`, {}],
] as const) {
  t.test(name, async t => {
    t.testdir()
    const client = await start(t, { log, onInternalError: () => {} })
    await client.write(city('Oslo'))
    const pending = client.write(city('Rome'))
    // A thread that ends inside a transaction holds its lock forever, so it is terminated before it receives a request. The
    // request is sent in the same turn nevertheless, when the thread may have ended already.
    const inside = client as unknown as { worker: { terminate(): Promise<number> }; flush(): void }
    const ended = inside.worker.terminate()
    inside.flush()
    await Promise.all([ended, t.rejects(pending, { name: 'WRITER.OUTCOME_UNKNOWN', httpStatus: 500 })])
    t.notOk(client.isRunning)
    await t.rejects(client.write(city('Bern')), { name: 'WRITER.RESTARTING', httpStatus: 503 })
    while (!client.isRunning) await new Promise(resolve => setImmediate(resolve))
    t.equal(
      (await client.write(city('OSLO'))).entities[0]!.failure?.error.httpStatus,
      409,
      'acknowledged writes are kept',
    )
    t.ok((await client.write(city('Bern'))).entities[0]!.row)
  })
}
