import t from 'tap'
import { Throttle } from '../../../../kernel/auth/throttle.ts'

const MAX_WINDOWS = 20_000

/** A throttle of `limit` events in 10 s, and its clock. */
function open(limit: number) {
  const clock = { now: 1_000_000 }
  const throttle = new Throttle(limit, 10_000, () => clock.now)
  const held = (): number => (Reflect.get(throttle, 'windows') as Map<string, unknown>).size
  return { clock, throttle, held }
}

t.test('events up to the limit are accepted, further ones when the window has ended', async t => {
  const { clock, throttle } = open(2)
  throttle.count('a')
  t.equal(throttle.wait('a'), 0)
  clock.now += 4_500
  throttle.count('a')
  t.equal(throttle.wait('a'), 6, 'whole seconds, rounded up')
  t.equal(throttle.wait('b'), 0, 'another key')
  clock.now += 5_499
  t.equal(throttle.wait('a'), 1)
  clock.now += 1
  t.equal(throttle.wait('a'), 0)
  throttle.count('a')
  t.equal(throttle.wait('a'), 0, 'a new window starts from 0')
})

t.test('an event can weigh more, and 0 is no limit', async t => {
  const { throttle } = open(10)
  throttle.count('a', 9)
  t.equal(throttle.wait('a'), 0)
  throttle.count('a', 5)
  t.equal(throttle.wait('a'), 10)
  const none = open(0)
  for (let i = 0; i < 100; i++) none.throttle.count('a')
  t.same([none.throttle.wait('a'), none.held()], [0, 0])
})

t.test('a refund belongs to the window that counted the event', async t => {
  const { clock, throttle } = open(1)
  const first = throttle.count('a')
  t.equal(throttle.wait('a'), 10)
  throttle.refund(first)
  t.equal(throttle.wait('a'), 0)
  const late = throttle.count('a')
  clock.now += 10_000
  throttle.count('a')
  throttle.refund(late)
  t.equal(throttle.wait('a'), 10, 'the limit of the next window is not raised')
})

t.test('windows that have ended are removed, whatever their keys', async t => {
  const { clock, throttle, held } = open(1)
  for (const key of ['a', 'b', 'c']) throttle.count(key)
  clock.now += 9_999
  throttle.count('d')
  t.equal(held(), 4)
  clock.now += 1
  throttle.count('e')
  t.equal(held(), 2, 'd and e are left')
  t.equal(throttle.wait('d'), 10, 'd has 9.999 s left')
})

t.test('memory is bounded: beyond 20,000 keys only the oldest windows are removed', async t => {
  const { throttle, held } = open(1)
  for (let i = 0; i < MAX_WINDOWS; i++) throttle.count(`key ${i}`)
  t.equal(throttle.wait('key 0'), 10, 'all of them are held')
  for (let i = 0; i < 3; i++) throttle.count(`another ${i}`)
  t.equal(held(), MAX_WINDOWS)
  t.same(
    ['key 0', 'key 2', 'key 3', 'another 2'].map(key => throttle.wait(key)),
    [0, 0, 10, 10],
  )
})
