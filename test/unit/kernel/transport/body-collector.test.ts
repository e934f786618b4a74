import { mock } from 'node:test'
import t from 'tap'
import { ByteBudget } from '../../../../engine/index.ts'
import { BodyCollector } from '../../../../kernel/transport/body-collector.ts'
import { EdgeErrors, RequestAborted } from '../../../../kernel/transport/edge-errors.ts'

const memory = ByteBudget.of(2 ** 20)
const limits = { bodyBytes: 10, timeoutMs: 1_000, memory }
const tooLarge = EdgeErrors.BODY_TOO_LARGE(limits.bodyBytes)

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
t.afterEach(() => mock.timers.reset())

t.test('pieces are put together, whatever their sizes', async t => {
  const collector = new BodyCollector({ ...limits, bodyBytes: 100_000 }, undefined)
  const sizes = [1, 0, 20_000, 1, 70_000, 3]
  for (const [i, size] of sizes.entries()) collector.push(Buffer.alloc(size, i), false)
  collector.push(Buffer.alloc(0), true)
  t.strictSame(Buffer.from(await collector.promise), Buffer.concat(sizes.map((size, i) => Buffer.alloc(size, i))))
})

t.test('a piece is copied, since its memory is reused', async t => {
  const collector = new BodyCollector(limits, 3)
  const lent = Buffer.from('abc')
  collector.push(lent, true)
  lent.fill(0)
  t.equal(String(await collector.promise), 'abc')
})

t.test('no body is an empty array', async t => {
  const collector = new BodyCollector(limits, undefined)
  collector.push(new Uint8Array(0), true)
  t.equal((await collector.promise).byteLength, 0)
  t.equal(collector.refused, false)
})

t.test('a body of exactly the limit is accepted', async t => {
  const collector = new BodyCollector(limits, 10)
  collector.push(Buffer.alloc(4), false)
  collector.push(Buffer.alloc(6), true)
  t.equal((await collector.promise).byteLength, 10)
})

t.test('a body above the limit is read to its end and refused', async t => {
  const collector = new BodyCollector(limits, 11)
  collector.push(Buffer.alloc(11), false)
  t.equal(collector.refused, false)
  collector.push(Buffer.alloc(0), true)
  t.equal(collector.refused, true)
  await t.rejects(collector.promise, tooLarge)
})

t.test('a body above twice the limit is refused before its end', async t => {
  const collector = new BodyCollector(limits, undefined)
  collector.push(Buffer.alloc(21), false)
  t.equal(collector.refused, true)
  collector.push(Buffer.alloc(1), true)
  await t.rejects(collector.promise, tooLarge)
})

t.test('a declared length above twice the limit is refused before the first byte', async t => {
  const collector = new BodyCollector(limits, 21)
  t.equal(collector.refused, true)
  await t.rejects(collector.promise, tooLarge)
})

t.test('a body that does not arrive in time is refused with 408', async t => {
  const collector = new BodyCollector(limits, 5)
  collector.push(Buffer.alloc(1), false)
  mock.timers.tick(1_000)
  t.equal(collector.refused, true)
  await t.rejects(collector.promise, EdgeErrors.REQUEST_TIMEOUT(1_000))
})

t.test('a body that is too large and stalls is refused for its size', async t => {
  const collector = new BodyCollector(limits, 15)
  collector.push(Buffer.alloc(12), false)
  mock.timers.tick(1_000)
  await t.rejects(collector.promise, tooLarge)
})

t.test('a client that disconnects ends the wait', async t => {
  const collector = new BodyCollector(limits, 5)
  collector.fail(new RequestAborted())
  mock.timers.tick(1_000)
  t.equal(collector.refused, false)
  await t.rejects(collector.promise, RequestAborted)
})

t.test('an unhandled error does not end the process', async () => {
  new BodyCollector(limits, 5).fail(new RequestAborted())
})

t.test('a body that is released is not waited for', async t => {
  const collector = new BodyCollector(limits, 10)
  collector.push(Buffer.alloc(4), false)
  collector.release()
  collector.push(Buffer.alloc(6), true)
  mock.timers.tick(limits.timeoutMs)
  t.equal(collector.refused, false, 'no timer is left, which would hold up the end of the process')
})
