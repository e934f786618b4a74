import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { outputUrl } from '../../../../engine/base/output-root.ts'
import { createRowStore } from '../../../support/engine/write-rows.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'

t.test('a snapshot does not change while another thread commits', async t => {
  const path = t.testdir()
  const rows = createRowStore(path, testModel)
  // Number of commits requested, number of commits made.
  const commits = new Int32Array(new SharedArrayBuffer(8))
  const writer = new Worker(outputUrl('test/unit/engine/storage/writer.child.js'), { workerData: { path, commits } })
  const ended = once(writer, 'exit')
  await once(writer, 'message')
  const letItCommit = () => {
    const made = Atomics.load(commits, 1)
    Atomics.add(commits, 0, 1)
    Atomics.notify(commits, 0)
    Atomics.wait(commits, 1, made, 10_000)
  }
  const [company, name] = [rows.dataClass('Company'), rows.attribute('Company', 'name')]
  const store = rows.open()
  letItCommit()
  for (let round = 1; round <= 30; round++) {
    const snapshot = store.snapshot()
    const table = snapshot.table(company)
    // Half of the rounds read before the commit, half only after it.
    if (round % 2) t.equal(table.row(0)?.key, '1')
    letItCommit()
    t.equal(snapshot.globalStamp, round)
    t.equal(table.live.size, round)
    t.equal(table.row(round), undefined)
    t.equal(table.findKey(`${round + 1}`), undefined)
    t.equal(table.index(name)!.range({}).size, round)
    const segment = table.column(name).segment(0)
    t.equal(segment.presence[0]!.toString(2).replaceAll('0', '').length, round)
    snapshot.release()
  }
  Atomics.store(commits, 0, -1)
  Atomics.notify(commits, 0)
  await ended
  await rows.environment.close()
})
