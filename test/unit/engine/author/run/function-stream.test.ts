/** Chunks between a function thread and the answer. */
import t from 'tap'
import { FunctionStream } from '../../../../../engine/author/run/function-stream.ts'

function streamed() {
  const told: unknown[] = []
  const flow = { taken: (size: number) => told.push(size), gone: () => told.push('gone') }
  return { stream: new FunctionStream(flow), told }
}
const done = { done: true, value: undefined }

t.test('chunks arrive in order, before the end or an error', async t => {
  const { stream, told } = streamed()
  const first = stream.next()
  stream.push('a')
  stream.push('bc')
  t.same(told, [1], 'a chunk counts as taken when it is')
  stream.end(Promise.reject(new Error('late')))
  await new Promise(resolve => setImmediate(resolve))
  t.same(await first, { done: false, value: 'a' })
  t.same(await stream.next(), { done: false, value: 'bc' })
  t.same(told, [1, 2])
  await t.rejects(stream.next(), /late/)
})

t.test('a reader that waits learns the end', async t => {
  const { stream, told } = streamed()
  const next = stream.next()
  stream.end(Promise.resolve())
  t.same(await next, done)
  t.same(await stream.next(), done)
  t.same(await stream.return(), done)
  t.same(told, [], 'nothing follows the end')
})

t.test('a reader that leaves', async t => {
  const { stream, told } = streamed()
  stream.push('a')
  const waiting = streamed()
  const next = waiting.stream.next()
  t.same([await stream.return(), await waiting.stream.return(), await next], [done, done, done])
  t.same([told, waiting.told], [['gone'], ['gone']])
  stream.push('b')
  stream.end(Promise.reject(new Error('after all')))
  await new Promise(resolve => setImmediate(resolve))
})
