import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { EngineErrors } from '../../../../engine/base/engine-errors.ts'
import { Sweeper } from '../../../../engine/base/sweeper.ts'

t.test('a second run joins the one in progress, and close waits for its end', async t => {
  let [begun, ended] = [0, 0]
  let finish!: () => void
  const work = async (): Promise<void> => {
    begun++
    await new Promise<void>(resolve => (finish = resolve))
    ended++
  }
  const sweeper = new Sweeper(work, 1e6, () => {})
  const runs = [sweeper.run(), sweeper.run()]
  t.equal(begun, 1)
  const closed = sweeper.close().then(() => ended)
  finish()
  await Promise.all(runs)
  t.equal(await closed, 1)
})

t.test('failures in the background are reported, except refusals by the writer', async t => {
  const told: string[] = []
  const sweeper = new Sweeper(
    async () => {},
    1e6,
    error => told.push(error.message),
  )
  sweeper.inBackground(Promise.reject(new Error('broken')))
  sweeper.inBackground(Promise.reject(EngineErrors.BAD_JSON('refused')))
  await turn()
  t.same(told, ['broken'])
  await sweeper.close()
})
