import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { WriteGate } from '../../../../engine/postgres/database/write-gate.ts'

t.test('writes pass while it is open, and those that close it do so one after the other', async t => {
  const gate = new WriteGate()
  const seen: string[] = []
  const pass = (name: string) => gate.pass().then(() => void seen.push(name))
  await pass('first')
  const open = await gate.close()
  const waiting = [pass('second'), pass('third')]
  const next = gate.close().then(again => {
    seen.push('closed again')
    return again
  })
  await turn()
  t.same(seen, ['first'])
  open()
  ;(await next)()
  await Promise.all(waiting)
  t.same([...seen].sort(), ['closed again', 'first', 'second', 'third'])
  await pass('last')
  t.equal(seen.at(-1), 'last')
})
