/** Saves and results in shared memory, compared with what was sent. */
import t from 'tap'
import {
  isPlainResult,
  receiveResults,
  receiveSaves,
  type SentSaves,
  sendResults,
  sendSaves,
} from '../../../../engine/write/contract/plain-saves.ts'
import type { SaveRequest, SaveResult, WriteRequest } from '../../../../engine/write/contract/requests.ts'
import { SharedBatches } from '../../../../engine/write/contract/shared-batches.ts'
import { randomOf } from '../../../support/base/random.ts'

const ACCESS = { privileges: 'a,b', version: 1, roles: new SharedArrayBuffer(4) }
const save = (body: string | Uint8Array, rest: Partial<SaveRequest> = {}): SaveRequest => ({
  kind: 'save',
  dataClass: 'City',
  access: undefined,
  body: Buffer.from(body),
  mode: 'update',
  atomic: false,
  owner: undefined,
  ...rest,
})
const sent = (requests: readonly WriteRequest[]) => requests.map((request, id) => ({ id, request }))
const [sender, receiver] = pair()

function pair(bytes = 4096): [SharedBatches, SharedBatches] {
  const { buffer } = new SharedBatches(new SharedArrayBuffer(bytes))
  return [new SharedBatches(buffer), new SharedBatches(buffer)]
}

t.test('plain saves arrive as they were sent, and share their common fields', async t => {
  const requests = [
    save('{"name":"Oslo"}'),
    save('', { owner: '' }),
    save('[]', { owner: 'A'.repeat(64), atomic: true }),
    save('é', { access: ACCESS, mode: 'validate' }),
    save('x'.repeat(1001), { dataClass: 'Größe', mode: 'refresh', owner: 'abc' }),
    save('{"name":"Rome"}'),
  ]
  const saves = sendSaves(sender, sent(requests))!
  t.equal(saves.heads.length, 4)
  const received = receiveSaves(receiver, structuredClone(saves))
  t.strictSame(
    received.map(({ id, request }) => ({ id, request: { ...request, body: Buffer.from(request.body) } })),
    structuredClone(sent(requests)).map(({ id, request }, i) => ({
      id,
      request: { ...request, body: requests[i]!.body },
    })),
  )
})

t.test('other requests are not sent in shared memory, nor is a message with one of them', async t => {
  const others: WriteRequest[] = [
    save('x'.repeat(20_000)),
    save('', { owner: 'A'.repeat(65) }),
    save('', { owner: 'é' }),
    save('', { trusted: true }),
    save('', { anyStamp: true }),
    save('', { user: '' }),
    save('', { moment: 0 }),
    save('', { ifMatch: 'any' }),
    save('', { ifMatch: [] }),
    save('', { hooked: [] }),
    save('', { encoded: [] }),
    save('', { parts: { many: true, ranges: new Uint32Array() } }),
    save('', { mark: { key: 'k', id: 'i' } }),
    save('', { received: { id: 'i', value: new Uint8Array() } }),
    save('', { uploads: { owner: { handle: 'h', isNew: true, guestNetwork: undefined }, now: 0 } }),
    { kind: 'freeLocks', owner: 'A' },
  ]
  const roomy = new SharedBatches()
  for (const other of others) {
    t.equal(sendSaves(roomy, sent([other])), undefined, JSON.stringify(other).slice(0, 60))
    t.equal(sendSaves(roomy, sent([save(''), other])), undefined)
  }
})

t.test('results of stored entities arrive as they were sent', async t => {
  const row = (text: string, rowId: number) => ({ row: Buffer.from(text), rowId })
  const results: SaveResult[] = [
    { kind: 'save', many: false, entities: [row('{"ID":1}', 0)], globalStamp: 2 ** 32 + 5 },
    { kind: 'save', many: true, entities: [], globalStamp: 2 ** 50 },
    {
      kind: 'save',
      many: true,
      entities: [row('é', 2 ** 32 - 2), row('', 1), row('x'.repeat(999), 7)],
      globalStamp: 0,
    },
  ]
  const numbered = results.map((outcome, i) => ({ id: 2 ** 31 + i, outcome }))
  const received = receiveResults(receiver, sendResults(sender, numbered)!)
  t.strictSame(received, numbered)
  t.ok(results.every(isPlainResult))
})

t.test('other outcomes are not plain', async t => {
  const result = (entity: SaveResult['entities'][number]): SaveResult => ({
    kind: 'save',
    many: false,
    entities: [entity],
    globalStamp: 1,
  })
  const row = Buffer.from('{}')
  const error = { name: 'X', httpStatus: 400, entries: [] } as never
  const failure = { status: { status: 4, statusText: '' }, error } as never
  t.notOk(isPlainResult(error))
  t.notOk(isPlainResult({ kind: 'delete', deleted: 1 }))
  t.notOk(isPlainResult(result({ failure })))
  t.notOk(isPlainResult(result({ row, rowId: 1, failure })))
  t.notOk(isPlainResult(result({ row })), 'a preview of a new entity')
  t.notOk(isPlainResult(result({ isOutdated: true })))
  t.notOk(isPlainResult(result({ row: Buffer.alloc(20_000), rowId: 1 })))
})

t.test('batches stay intact until they are released, whatever their sizes', async t => {
  const random = randomOf(7)
  const [sender, receiver] = pair(2048)
  const queue: { saves: SentSaves; bodies: string[] }[] = []
  let refused = 0
  let id = 0
  for (let i = 0; i < 20_000; i++) {
    if (random.integer(0, 1) === 0) {
      const bodies = Array.from({ length: random.integer(1, 4) }, () =>
        String(id++).padEnd(random.integer(0, 200), '.'),
      )
      const saves = sendSaves(sender, sent(bodies.map(body => save(body))))
      if (saves) queue.push({ saves, bodies })
      else refused++
      if (!saves && queue.length === 0) t.fail('an empty memory has room')
    } else if (queue.length > 0) {
      const { saves, bodies } = queue.shift()!
      const received = receiveSaves(receiver, saves).map(({ request }) => Buffer.from(request.body).toString())
      if (received.join() !== bodies.join()) t.fail(`batch ${i}`)
    }
  }
  t.ok(refused > 1000, 'the memory was often full')
  t.equal(sender.reserve(2048), undefined, 'more than there is')
})
