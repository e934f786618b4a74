import t from 'tap'
import { MigrationLog } from '../../../kernel/migration-log.ts'

t.test('progress of a changed model is logged by time and not by rows', async t => {
  const lines: string[] = []
  let now = 1_000
  const log = new MigrationLog({ info: (_: object, text?: string) => lines.push(text!) } as never, () => now)
  // A million rows in 100 s, in slices of 5,000; then indexes that take no time.
  for (let done = 5_000; done <= 1_000_000; done += 5_000) {
    now += 500
    log.show({ dataClass: 'Person', what: 'rewrite', done, total: 1_000_000 })
  }
  t.equal(lines.length, 20)
  t.equal(lines[9], 'bringing the store to the model: rewriting Person: 500000 of 1000000 (50 %), about 50 s left')
  for (let done = 5_000; done <= 1_000_000; done += 5_000) {
    log.show({ dataClass: 'Person', what: 'index', done, total: 1_000_000 })
  }
  t.equal(lines.length, 20)
})

t.test('a slice that takes longer than the time between two lines is logged', async t => {
  const lines: string[] = []
  let now = 0
  const log = new MigrationLog({ info: (_: object, text?: string) => lines.push(text!) } as never, () => now)
  now = 60_000
  log.show({ dataClass: 'Photo', what: 'check', done: 5_000, total: 20_000 })
  now = 61_000
  log.show({ dataClass: 'Photo', what: 'check', done: 10_000, total: 20_000 })
  t.strictSame(lines, [
    'bringing the store to the model: looking for what would be lost in Photo: 5000 of 20000 (25 %), about 180 s left',
  ])
})
