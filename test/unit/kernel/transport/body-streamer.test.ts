import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { ByteBudget } from '../../../../engine/index.ts'
import { BodyStreamer } from '../../../../kernel/transport/body-streamer.ts'
import { EdgeErrors } from '../../../../kernel/transport/edge-errors.ts'
import { HeldBody } from '../../../../kernel/transport/held-body.ts'

const TIMEOUT_MS = 20
const MIB = 2 ** 20
const flow = { pause() {}, resume() {} }
const piece = Buffer.from('abc')

/** A stream whose consumer holds a piece until `finish` is called. */
function startStream({ totalTimeoutMs = 60_000, timeoutMs = TIMEOUT_MS, memory = ByteBudget.of(MIB) } = {}) {
  let finish!: (error?: Error) => void
  const held = new Promise<void>((resolve, reject) => {
    finish = error => (error ? reject(error) : resolve())
  })
  const limits = { bodyBytes: 64 * MIB, timeoutMs, totalTimeoutMs, memory }
  const streamer = new BodyStreamer(() => held, limits, undefined, flow)
  let isSettled = false
  const settled = streamer.promise.then(
    () => 'taken',
    error => error,
  )
  void settled.then(() => {
    isSettled = true
  })
  return { streamer, memory, finish, settled, isSettled: () => isSettled }
}

t.test('a client does not time out while the server is at work on a piece', async t => {
  const { streamer, finish, settled, isSettled } = startStream()
  streamer.push(piece, false)
  await delay(10 * TIMEOUT_MS)
  t.equal(isSettled(), false)
  finish()
  streamer.push(piece, true)
  t.equal(await settled, 'taken')
})

t.test('a client that stops sending times out, before the first piece and after it', async t => {
  t.match(await startStream().settled, EdgeErrors.REQUEST_TIMEOUT(TIMEOUT_MS))
  const { streamer, finish, settled } = startStream()
  streamer.push(piece, false)
  finish()
  t.match(await settled, EdgeErrors.REQUEST_TIMEOUT(TIMEOUT_MS))
  t.ok(streamer.refused)
})

t.test('the time limit of a whole body applies even while the server is at work', async t => {
  const { streamer, settled } = startStream({ totalTimeoutMs: 500 })
  streamer.push(piece, false)
  t.match(await settled, EdgeErrors.REQUEST_TIMEOUT(TIMEOUT_MS))
})

t.test('a body for which there is no memory is dropped up to a bound, and refused', async t => {
  const memory = ByteBudget.of(MIB / 8)
  const { streamer, settled } = startStream({ memory, timeoutMs: 60_000 })
  const chunk = Buffer.alloc(MIB / 2)
  let pushed = 0
  while (!streamer.refused && pushed < 64) {
    streamer.push(chunk, false)
    pushed++
  }
  t.ok(streamer.refused && pushed <= 35, `refused after ${pushed / 2} MiB`)
  t.match(await settled, { httpStatus: 503, retryAfterSeconds: 2 })
  t.equal(memory.usedBytes, 0)
})

t.test('a body that was held until its consumer was ready stays paused while the consumer is at work', async t => {
  const calls: string[] = []
  const flow = { pause: () => calls.push('pause'), resume: () => calls.push('resume') }
  const memory = ByteBudget.of(MIB)
  const held = new HeldBody(flow, memory)
  held.push(piece, false)
  let finish!: () => void
  const working = new Promise<void>(resolve => (finish = resolve))
  const limits = { bodyBytes: MIB, timeoutMs: 60_000, totalTimeoutMs: 60_000, memory }
  const streamer = new BodyStreamer(() => working, limits, undefined, flow)
  held.handTo(streamer)
  t.strictSame(calls, ['pause', 'resume', 'pause'])
  held.push(piece, true)
  finish()
  await streamer.promise
  held.release()
  t.strictSame(calls, ['pause', 'resume', 'pause', 'resume'])
  t.equal(memory.usedBytes, 0)
})
