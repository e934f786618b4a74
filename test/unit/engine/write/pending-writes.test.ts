import t from 'tap'
import { ownCounts } from '../../../../engine/base/counts/thread-counts.ts'
import { PendingWrites } from '../../../../engine/write/client/pending-writes.ts'
import { packResult } from '../../../../engine/write/contract/packed-result.ts'
import type { SaveRequest, SaveResult } from '../../../../engine/write/contract/requests.ts'
import { saveRequest } from '../../../support/engine/test-store.ts'

const request = saveRequest('City', []) as SaveRequest
const packedSave = packResult({
  kind: 'save',
  many: true,
  globalStamp: 7,
  entities: [{ row: Buffer.from('row'), rowId: 3 }],
})

function pendingWrites(): PendingWrites {
  return new PendingWrites({ maxWaiting: 10, maxWaitingBytes: 1000 }, ownCounts(), () => {})
}

t.test('a large result is announced when it is durable, and settled when readers see it', async t => {
  const pending = pendingWrites()
  const announced: SaveResult[] = []
  const saving = pending.add(request, result => announced.push(result))
  const { id } = pending.take()[0]!
  pending.announce(id, packedSave)
  t.equal(announced[0]!.globalStamp, 7)
  t.equal(pending.size, 1)
  pending.settle(id)
  t.equal(await saving, announced[0])
  t.equal(pending.size, 0)
})

t.test('a save whose thread ends is answered if it was durable, and unknown otherwise', async t => {
  const pending = pendingWrites()
  const durable = pending.add(request)
  const unknown = pending.add(request)
  const { id } = pending.take()[0]!
  pending.announce(id, packedSave)
  pending.failSent()
  pending.removeSent()
  t.equal((await durable).globalStamp, 7)
  await t.rejects(unknown, { name: 'WRITER.OUTCOME_UNKNOWN' })
  t.equal(pending.size, 0)
})
