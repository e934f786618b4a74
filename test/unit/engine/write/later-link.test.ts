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
  type LaterAnswers,
  type LaterRequest,
  type ToLinkedWriter,
} from '../../../../engine/write/contract/link-messages.ts'
import type { EnqueueRequest } from '../../../../engine/write/contract/requests.ts'
import { LaterLink } from '../../../../engine/write/client/later-link.ts'

const REQUEST: EnqueueRequest = { kind: 'enqueue', jobs: [] }
type Received = Extract<ToLinkedWriter, { kind: 'later' }>

/** A link whose other end the test has. */
function open(t: Test) {
  const ends: LinkEnd[] = []
  const received: LaterRequest[] = []
  const sizes: number[] = []
  const link = new LaterLink(end => {
    ends.push(end)
    end.port.on('message', ({ requests }: Received) => {
      received.push(...requests)
      sizes.push(requests.length)
    })
  })
  t.teardown(() => {
    link.close()
    for (const { port } of ends) port.close()
  })
  return {
    ends,
    received,
    sizes,
    send: () => link.send(),
    write: () => new Promise<unknown>(resolve => link.write(REQUEST, resolve)),
    async arrived(count: number) {
      while (received.length < count) await new Promise(resolve => setImmediate(resolve))
    },
  }
}

t.test('answers reach the requests that they belong to, in any order, with their surroundings', async t => {
  const { ends, received, sizes, write, send, arrived } = open(t)
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const ask = (name: string) =>
    context.run(name, () => write().then(outcome => seen.push([name, context.getStore(), outcome])))
  const all = [ask('a'), ask('b')]
  send()
  all.push(ask('c'))
  send()
  send()
  await arrived(3)
  t.same([ends.length, sizes], [1, [2, 1]])
  const { port } = ends[0]!
  const error = {
    name: 'WRITE.X',
    httpStatus: 409,
    entries: [{ message: 'no', componentSignature: 'dbmg', errCode: 1 }],
  }
  const [a, b, c] = received.map(({ id }) => id) as [number, number, number]
  const outcomes: LaterAnswers[] = [
    { outcomes: [{ id: c, outcome: { kind: 'enqueue', ids: ['3'] } }] },
    {
      outcomes: [
        { id: a, outcome: error },
        { id: b, outcome: { kind: 'enqueue', ids: ['2'] } },
      ],
    },
  ]
  for (const message of outcomes) port.postMessage(message)
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
    const { ends, received, write, send, arrived } = open(t)
    const answer = (end: number, request: number, id: string) =>
      ends[end]!.port.postMessage({
        outcomes: [{ id: received[request]!.id, outcome: { kind: 'enqueue', ids: [id] } }],
      })
    const waiting = [write(), write()]
    send()
    await arrived(2)
    // Was answered before.
    answer(0, 0, '1')
    cutLink(ends[0]!.signal, state)
    t.match(await Promise.all(waiting), [{ ids: ['1'] }, { name }])
    const next = write()
    send()
    await arrived(3)
    t.equal(ends.length, 2)
    answer(1, 2, '3')
    t.match(await next, { ids: ['3'] })
  })
}
