/** Answers that are streams: their ends, their errors, and the comments of event streams. */
import t from 'tap'
import { ProtocolError } from '../../../engine/base/errors.ts'
import { FunctionStream } from '../../../engine/author/run/function-stream.ts'
import { streamedReply } from '../../../kernel/streamed-result.ts'

const failure = new ProtocolError({
  name: 'TEA',
  httpStatus: 418,
  entries: [{ message: 'short', componentSignature: 'tea', errCode: 7 }],
})
const ERROR = '{"__ERROR":[{"message":"short","componentSignature":"tea","errCode":7}]}'

function reply(form: 'lines' | 'events' | 'raw') {
  const told: unknown[] = []
  const body = new FunctionStream({ taken: () => {}, gone: () => told.push('gone') })
  let callback: (() => void) | undefined
  const timers = {
    setTimeout: (call: () => void, ms: number) => {
      told.push(ms)
      callback = call
      return 1 as unknown as NodeJS.Timeout
    },
    clearTimeout: () => {
      callback = undefined
    },
  }
  const { body: sent } = streamedReply({ status: 200, headers: {}, form, body }, timers)
  const pieces = (sent as AsyncIterable<string>)[Symbol.asyncIterator]()
  return { body, pieces, told, fire: () => callback?.() }
}

const cases: readonly [form: 'lines' | 'events', end: string[], failed: string][] = [
  ['lines', [], `${ERROR}\n`],
  ['events', ['event: end\ndata: null\n\n'], `event: error\ndata: ${ERROR}\n\n`],
]
for (const [form, end, failed] of cases) {
  t.test(form, async t => {
    for (const [result, last] of [
      [Promise.resolve(), end],
      [Promise.reject(failure), [failed]],
    ] as const) {
      const { body, pieces } = reply(form)
      body.push('1')
      body.end(result)
      const all: string[] = []
      for (let next = await pieces.next(); !next.done; next = await pieces.next()) all.push(next.value)
      t.same(all, ['1', ...last])
      t.equal((await pieces.next()).done, true)
    }
    const { body, pieces } = reply(form)
    body.end(Promise.reject(new TypeError('of the server')))
    await t.rejects(pieces.next(), TypeError, 'what is not an error of the protocol cuts the answer off')
  })
}

t.test('a body in a form of its own is cut off by an error', async t => {
  const { body, pieces } = reply('raw')
  body.push('1')
  body.end(Promise.reject(failure))
  t.same(await pieces.next(), { done: false, value: '1' })
  await t.rejects(pieces.next(), failure)
})

t.test('comments where nothing is sent for a while', async t => {
  const { body, pieces, told, fire } = reply('events')
  const first = pieces.next()
  fire()
  t.same(await first, { done: false, value: ':\n\n' })
  const second = pieces.next()
  body.push('1')
  t.same(await second, { done: false, value: '1' })
  t.same(told, [15_000, 15_000])
  const third = pieces.next()
  await pieces.return!()
  t.equal(told.at(-1), 'gone')
  t.same((await third).value, 'event: end\ndata: null\n\n')
})

t.test('an answer whose body is not wanted, as for HEAD', async t => {
  for (const form of ['lines', 'events', 'raw'] as const) {
    const { pieces, told } = reply(form)
    await pieces.return!()
    t.same(told, ['gone'])
  }
})
