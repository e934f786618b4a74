/** The queue of conversions, with a process that takes as many milliseconds as the bytes of an image say. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { Converter } from '../../plugins/binary/converter.ts'

const PROGRAM = `process.on('message', ({ bytes }) => setTimeout(() => process.send(bytes), bytes.length))
process.on('disconnect', () => process.exit())`

function start(t: Test, options: { maxConcurrent?: number; queueLimit?: number }) {
  const file = join(t.testdir(), 'convert.mjs')
  writeFileSync(file, PROGRAM)
  const converter = new Converter(pathToFileURL(file), {
    ...{ maxPixels: 1, maxConcurrent: 1, queueLimit: 100, timeoutMs: 60_000 },
    ...options,
  })
  t.teardown(() => converter.close())
  const done: string[] = []
  const convert = async (image: string, ms: number) => {
    const load = async () => new Uint8Array(ms)
    const bytes = await converter.convert({ image, format: 'png', width: undefined, height: undefined, load })
    done.push(image)
    return bytes.length
  }
  return { convert, done }
}

t.test('an image that takes long in each of its sizes does not delay others', async t => {
  const { convert, done } = start(t, {})
  const slow = Array.from({ length: 5 }, () => convert('slow', 200))
  await convert('quick', 1)
  t.same(done, ['slow', 'quick'])
  await Promise.all([...slow, convert('quick', 1), convert('other', 1)])
  t.same(done.slice(2), ['slow', 'other', 'quick', 'slow', 'slow', 'slow'])
})

t.test('it occupies one process at a time, and others continue', async t => {
  const { convert, done } = start(t, { maxConcurrent: 2 })
  const slow = [convert('slow', 5_000), convert('slow', 1)]
  for (let i = 0; i < 3; i++) await convert(`quick ${i}`, 1)
  t.same(done, ['quick 0', 'quick 1', 'quick 2'])
  await Promise.all(slow)
})

t.test('in a full queue it gives way to others', async t => {
  const { convert } = start(t, { queueLimit: 2 })
  await convert('slow', 200)
  const slow = Array.from({ length: 4 }, () => convert('slow', 200).catch(({ httpStatus }) => httpStatus as number))
  t.equal(await convert('quick', 1), 1)
  t.same(await Promise.all(slow), [200, 200, 503, 503])
})
