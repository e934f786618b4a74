import t from 'tap'
import { ByteCache } from '../../../../engine/files/byte-cache.ts'

const bytes = (size: number) => async () => new Uint8Array(size)
const never = () => Promise.reject(new Error('it is kept'))

t.test('what was used last stays, as much as fits', async t => {
  const cache = new ByteCache(3_000)
  for (const key of ['a', 'b', 'c']) await cache.get(key, bytes(700))
  t.equal((await cache.get('a', never)).length, 700)
  await cache.get('d', bytes(700))
  t.same(cache.usage, { bytes: 2_700, hits: 1, misses: 4 }, 'with 200 bytes beside each')
  t.equal((await cache.get('a', never)).length, 700)
  t.equal((await cache.get('b', bytes(1))).length, 1, 'the oldest has gone')
})

t.test('what is larger than all of it is not kept', async t => {
  const cache = new ByteCache(1_000)
  await cache.get('a', bytes(500))
  await cache.get('b', bytes(1_000))
  t.equal((await cache.get('b', bytes(2))).length, 2)
  t.equal((await cache.get('a', bytes(3))).length, 500)
})

t.test('empty ones have an end too', async t => {
  const cache = new ByteCache(1_000)
  for (let i = 0; i < 10; i++) await cache.get(String(i), bytes(0))
  t.equal((await cache.get('0', bytes(1))).length, 1)
})

t.test('what several ask for at a time is made once, and a failure is told to all and forgotten', async t => {
  const cache = new ByteCache(1_000)
  let made = 0
  const fail = async () => {
    made++
    throw new Error('broken')
  }
  const asked = [cache.get('a', fail), cache.get('a', fail)]
  for (const each of asked) await t.rejects(Promise.resolve(each), { message: 'broken' })
  t.equal(made, 1)
  t.equal((await cache.get('a', bytes(1))).length, 1)
})
