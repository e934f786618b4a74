import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FileWatch } from '../../../../kernel/base/file-watch.ts'

/** A watch that never polls within the test. */
function watchOf(t: Test) {
  const file = join(t.testdir({ users: 'none' }), 'users')
  const watch = new FileWatch([file], () => t.fail('polled'), 3_600_000)
  t.teardown(() => watch.close())
  let count = 0
  return {
    watch,
    // A look sees the old file or the new one.
    write(text: string) {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    },
    read: () => void count++,
    count: () => count,
  }
}

t.test('an owner reads a change early, once', async t => {
  const { watch, write, read, count } = watchOf(t)
  await watch.readEarly(read)
  t.equal(count(), 0)
  write('Ada')
  await watch.readEarly(read)
  await watch.readEarly(read)
  t.equal(count(), 1)
})

t.test('a change that cannot be read yet is read again', async t => {
  const { watch, write, read, count } = watchOf(t)
  write('half')
  await watch.readEarly(() => {
    throw new Error('incomplete')
  })
  await watch.readEarly(read)
  t.equal(count(), 1)
})

t.test('callers share looks, and a look begins after the call', async t => {
  const { watch, write, read, count } = watchOf(t)
  const first = watch.readEarly(read)
  // The first look has begun.
  await Promise.resolve()
  write('Ada')
  const others = Array.from({ length: 100 }, () => watch.readEarly(read))
  t.equal(new Set(others).size, 1)
  await Promise.all([first, ...others])
  t.equal(count(), 1)
})

t.test('a closed watch reads nothing', async t => {
  const { watch, write, read, count } = watchOf(t)
  write('Ada')
  watch.close()
  await watch.readEarly(read)
  t.equal(count(), 0)
})
