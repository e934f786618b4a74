/** A body is passed on completely and in order, however many pieces arrive before its client can be told to wait. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { RestRequest } from '../../../../kernel/api.ts'
import { receiveRows } from '../../../../plugins/import/body-stream.ts'

const PIECES = 40
const PIECE_BYTES = 256 * 1024

t.test('pieces that are received while the client should wait', async t => {
  const warnings: Error[] = []
  const collect = (warning: Error): void => void warnings.push(warning)
  process.on('warning', collect)
  t.teardown(() => process.off('warning', collect))
  const waits: (undefined | Promise<void>)[] = []
  const streamBody: RestRequest['streamBody'] = async take => {
    for (let i = 0; i < PIECES; i++) waits.push(take(Buffer.alloc(PIECE_BYTES, i)) as undefined | Promise<void>)
    await Promise.all(waits)
  }
  const { bytes, end } = receiveRows({ streamBody } as RestRequest, new AbortController().signal)
  const firsts: number[] = []
  let length = 0
  for await (const piece of bytes) {
    if (length % PIECE_BYTES === 0) firsts.push(piece[0]!)
    length += piece.length
  }
  end()
  await nextTurn()
  t.equal(length, PIECES * PIECE_BYTES)
  t.same(
    firsts,
    Array.from({ length: PIECES }, (_, i) => i),
  )
  t.equal(waits[0], undefined, 'the first piece has room')
  t.ok(waits.at(-1), 'the last one has not')
  t.same(warnings, [])
})
