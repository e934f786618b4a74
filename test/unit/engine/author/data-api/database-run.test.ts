/** The transaction of a database around events and their save: what is asked in it, and when it begins. */
import t from 'tap'
import { DatabaseRun } from '../../../../../engine/author/data-api/changes/database-run.ts'
import type { RemoteLink } from '../../../../../engine/postgres/run/remote-link.ts'

const holding = { connection: 'main', dataClass: 'Loan', checksAtOnce: true, isAlone: false, repeats: false }
const ended: boolean[] = []
const link = {
  finish(_: string, keep: boolean) {
    ended.push(keep)
    return 'kept'
  },
} as unknown as RemoteLink
const call = (connection: string, isDescription = false) => ({
  connection,
  statement: { text: '', values: [], isDescription },
})

t.beforeEach(() => {
  ended.length = 0
})

t.test('without a read of events it asks nothing more than without events', async t => {
  const run = new DatabaseRun(link, holding, false)
  let isDone = false
  t.equal(run.forRead(call('main'), false), undefined, 'a read before the events')
  t.equal(run.forRead(call('other'), true), undefined, 'a read from elsewhere')
  t.equal(run.forRead(call('main', true), true), undefined, 'a description of tables')
  t.equal(run.forChange(), undefined)
  run.afterCommit(() => {
    isDone = true
  })
  t.ok(isDone)
  t.equal(run.end(true), undefined)
  t.same(ended, [])
})

t.test('it begins with the first read of events, and goes on with all that is asked of the database', async t => {
  const run = new DatabaseRun(link, holding, false)
  let isDone = false
  t.same(run.forRead(call('main'), true), { holding, begins: true })
  t.equal(run.forRead(call('other'), true), undefined)
  t.same(run.forRead(call('main'), false), { holding, begins: false })
  t.same(run.forChange(), { holding, begins: false })
  run.afterCommit(() => {
    isDone = true
  })
  t.notOk(isDone)
  t.equal(run.end(true), 'kept')
  run.settle()
  t.ok(isDone)
  t.equal(run.end(false), undefined, 'it ends once')
  t.same(ended, [true])
})

t.test('a whole one begins with whatever comes first', async t => {
  t.same(new DatabaseRun(link, holding, true).forRead(call('main'), false), { holding, begins: true })
  t.same(new DatabaseRun(link, holding, true).forChange(), { holding, begins: true })
})
