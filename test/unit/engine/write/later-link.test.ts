import { AsyncLocalStorage } from 'node:async_hooks'
import t, { type Test } from 'tap'
import { ProtocolError } from '../../../../engine/base/errors.ts'
import {
  cutLink,
  type LinkEnd,
  LOST,
  REFUSED,
  REFUSED_DISK,
  REFUSED_STALLED,
  type ToLinkedWriter,
} from '../../../../engine/write/contract/link-messages.ts'
import type { EnqueueRequest } from '../../../../engine/write/contract/requests.ts'
import { LaterLink } from '../../../../engine/write/later-link.ts'

const REQUEST: EnqueueRequest = { kind: 'enqueue', jobs: [] }
type Received = Extract<ToLinkedWriter, { kind: 'write' }>

/** A link whose other end the test has. */
function open(t: Test) {
  const ends: LinkEnd[] = []
  const received: Received[] = []
  const link = new LaterLink(end => {
    ends.push(end)
    end.port.on('message', (message: Received) => received.push(message))
  })
  t.teardown(() => {
    link.close()
    for (const { port } of ends) port.close()
  })
  return {
    ends,
    received,
    write: () => new Promise<unknown>(resolve => link.write(REQUEST, resolve)),
    async arrived(count: number) {
      while (received.length < count) await new Promise(resolve => setImmediate(resolve))
    },
  }
}

t.test('answers reach the requests that they belong to, in any order, with their surroundings', async t => {
  const { ends, received, write, arrived } = open(t)
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const ask = (name: string) =>
    context.run(name, () => write().then(outcome => seen.push([name, context.getStore(), outcome])))
  const all = [ask('a'), ask('b'), ask('c')]
  await arrived(3)
  t.equal(ends.length, 1)
  const { port } = ends[0]!
  const error = {
    name: 'WRITE.X',
    httpStatus: 409,
    entries: [{ message: 'no', componentSignature: 'dbmg', errCode: 1 }],
  }
  port.postMessage({ id: received[2]!.id, outcome: { kind: 'enqueue', ids: ['3'] } })
  port.postMessage({ id: received[0]!.id, outcome: error })
  port.postMessage({ id: received[1]!.id, outcome: { kind: 'enqueue', ids: ['2'] } })
  await Promise.all(all)
  t.match(seen, [
    ['c', 'c', { ids: ['3'] }],
    ['a', 'a', { name: 'WRITE.X', httpStatus: 409, message: 'no' }],
    ['b', 'b', { ids: ['2'] }],
  ])
  t.ok((seen[1] as unknown[])[2] instanceof ProtocolError)
})

for (const [state, name] of [
  [LOST, 'WRITER.OUTCOME_UNKNOWN'],
  [REFUSED, 'WRITER.RESTARTING'],
  [REFUSED_DISK, 'WRITER.DISK_SILENT'],
  [REFUSED_STALLED, 'WRITER.STALLED'],
] as const) {
  t.test(`a link that is cut ends its requests with ${name}, and the next one has a new link`, async t => {
    const { ends, received, write, arrived } = open(t)
    const waiting = [write(), write()]
    await arrived(2)
    // Was answered before.
    ends[0]!.port.postMessage({ id: received[0]!.id, outcome: { kind: 'enqueue', ids: ['1'] } })
    cutLink(ends[0]!.signal, state)
    t.match(await Promise.all(waiting), [{ ids: ['1'] }, { name }])
    const next = write()
    await arrived(3)
    t.equal(ends.length, 2)
    ends[1]!.port.postMessage({ id: received[2]!.id, outcome: { kind: 'enqueue', ids: ['3'] } })
    t.match(await next, { ids: ['3'] })
  })
}
