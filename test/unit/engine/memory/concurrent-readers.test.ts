import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { outputUrl } from '../../../../engine/base/output-root.ts'
import { randomOf } from '../../../support/base/random.ts'
import { openMemoryWorld, picture } from '../../../support/engine/shared-memory.ts'
import { seedOf } from '../../../support/runner/rounds.ts'

const model = {
  name: 'bank',
  dataClasses: {
    Account: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        balance: { type: 'number', indexed: true },
        name: { type: 'string', indexed: true },
      },
    },
  },
}
const TOTAL = 10_000
const COMMITS = process.env.TESSER_TEST_LONG ? 5_000 : 600

t.test(
  'threads that read while rows are changed and images are written see whole commits, and images hold whole commits',
  async t => {
    const world = openMemoryWorld(t, model)
    const random = randomOf(seedOf(7))
    const accounts = new Map<number, { ID: number; balance: number }>()
    const entity = (account: { ID: number; balance: number }) => ({ ...account, name: `balance ${account.balance}` })
    let nextId = 1
    world.commit(write => {
      for (let i = 0; i < 100; i++) {
        const account = { ID: nextId++, balance: TOTAL / 100 }
        accounts.set(write.insert('Account', entity(account)), account)
      }
    })
    world.fill()
    const stop = new Int32Array(new SharedArrayBuffer(4))
    const workers = [0, 1].map(slot => {
      const { memory } = world
      const workerData = { path: world.path, model, memory, slot, stop, total: TOTAL }
      return new Worker(outputUrl('test/unit/engine/memory/reader.child.js'), { workerData })
    })
    const reports = workers.map(worker => once(worker, 'message'))
    let images = 0
    let image = Promise.resolve()
    for (let i = 0; i < COMMITS; i++) {
      if (i % 50 === 0) {
        await image
        image = world.writer.saveImage(Number.POSITIVE_INFINITY, new AbortController().signal).then(isSaved => {
          if (isSaved) images++
        })
      }
      world.commit(write => {
        const [from, to] = [random.pick([...accounts.keys()]), random.pick([...accounts.keys()])]
        const amount = random.integer(1, 50)
        const move = (rowId: number, change: number) => {
          accounts.get(rowId)!.balance += change
          write.update('Account', rowId, entity(accounts.get(rowId)!))
        }
        move(from, -amount)
        move(to, amount)
        if (random.chance(0.3)) {
          const account = { ID: nextId++, balance: 0 }
          accounts.set(write.insert('Account', entity(account)), account)
        }
        const [empty] = [...accounts].find(([, { balance }]) => balance === 0) ?? []
        if (empty !== undefined) {
          write.delete('Account', empty)
          accounts.delete(empty)
        }
      })
      // Lets the threads run on a machine with few cores.
      if (i % 20 === 0) await new Promise(setImmediate)
    }
    Atomics.store(stop, 0, 1)
    for (const report of reports) {
      const [{ snapshots, found }] = (await report) as [{ snapshots: number; found: string[] }]
      t.ok(snapshots > 0)
      t.strictSame(found, [])
    }
    await image
    t.ok(images > 0, `${images} images were written meanwhile`)
    await world.reopen()
    t.match(world.notes.at(-1), /comes from its image/)
    const { dataClasses } = world.rows.catalog
    t.strictSame(
      world.reader(2).read(snapshot => picture(snapshot, dataClasses)),
      world.rows.open().read(snapshot => picture(snapshot, dataClasses)),
    )
  },
)
