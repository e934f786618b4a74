import t from 'tap'
import { ByteCache } from '../../../../engine/files/byte-cache.ts'

const bytes = (size: number) => async () => new Uint8Array(size)
const never = () => Promise.reject(new Error('it is kept'))

t.test('recently used entries are kept, as many as fit', async t => {
  const cache = new ByteCache(3_000)
  for (const key of ['a', 'b', 'c']) await cache.get(key, bytes(700))
  t.equal((await cache.get('a', never)).length, 700)
  await cache.get('d', bytes(700))
  t.same(cache.usage, { bytes: 2_700, hits: 1, misses: 4 }, 'with 200 bytes of overhead each')
  t.equal((await cache.get('a', never)).length, 700)
  t.equal((await cache.get('b', bytes(1))).length, 1, 'the oldest was evicted')
})

t.test('an entry larger than the cache is not kept', async t => {
  const cache = new ByteCache(1_000)
  await cache.get('a', bytes(500))
  await cache.get('b', bytes(1_000))
  t.equal((await cache.get('b', bytes(2))).length, 2)
  t.equal((await cache.get('a', bytes(3))).length, 500)
})

t.test('empty entries are evicted too', async t => {
  const cache = new ByteCache(1_000)
  for (let i = 0; i < 10; i++) await cache.get(String(i), bytes(0))
  t.equal((await cache.get('0', bytes(1))).length, 1)
})

t.test('concurrent requests share one load; a failure reaches all of them and is not cached', async t => {
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
