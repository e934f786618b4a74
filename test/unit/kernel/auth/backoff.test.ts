import t from 'tap'
import { Backoff } from '../../../../kernel/auth/backoff.ts'

const MINUTE = 60_000

function open(free: number) {
  const clock = { now: 1_000_000 }
  return { clock, backoff: new Backoff(free, () => clock.now) }
}

t.test('some failures are free, each further one doubles the time to wait, up to 15 minutes', async t => {
  const { clock, backoff } = open(3)
  const waits: number[] = []
  for (let i = 0; i < 15; i++) {
    backoff.fail('a')
    waits.push(backoff.wait('a'))
    clock.now += backoff.wait('a') * 1000
    t.equal(backoff.wait('a'), 0)
  }
  t.same(waits, [0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
  t.equal(backoff.wait('b'), 0)
})

t.test('failures are forgotten an hour after the last one, or when they are forgiven', async t => {
  const { clock, backoff } = open(2)
  for (let i = 0; i < 5; i++) backoff.fail('a')
  clock.now += 59 * MINUTE
  backoff.fail('a')
  t.equal(backoff.wait('a'), 16)
  clock.now += 60 * MINUTE
  backoff.fail('a')
  t.equal(backoff.wait('a'), 0)
  backoff.fail('a')
  t.equal(backoff.wait('a'), 1)
  backoff.forgive('a')
  t.equal(backoff.wait('a'), 0)
  backoff.fail('a')
  t.equal(backoff.wait('a'), 0)
})

t.test('memory is bounded: beyond 20,000 keys the one that failed longest ago is forgotten', async t => {
  const { backoff } = open(1)
  for (let i = 0; i < 20_000; i++) backoff.fail(`key ${i}`)
  backoff.fail('key 0')
  backoff.fail('another')
  t.same(
    ['key 0', 'key 1', 'key 2', 'another'].map(key => backoff.wait(key)),
    [2, 0, 1, 1],
  )
})
