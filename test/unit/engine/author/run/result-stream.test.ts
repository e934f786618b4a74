/** The values of a stream: how far it runs ahead of its client, and what it sends together. */
import t, { type Test } from 'tap'
import { RunningCall } from '../../../../../engine/author/declare/running-call.ts'
import { ResultStream } from '../../../../../engine/author/run/result-stream.ts'

const KI = 1024
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

function streamOf(values: Iterator<unknown> | AsyncIterator<unknown>) {
  const call = new RunningCall(1, { deadlineMs: 1_000, waitMs: 1_000 })
  const seen: unknown[] = []
  const stream = new ResultStream(
    {
      head: { status: 200, headers: {}, form: 'raw' },
      values,
      isAsync: Symbol.asyncIterator in values,
      write: value => value as string,
    },
    {
      call,
      run: work => work(),
      onHead: () => seen.push('head'),
      onChunk(chunk) {
        seen.push(chunk)
        return chunk.length
      },
      onEnd: failure => seen.push(failure ? `failed: ${failure.exception}` : 'end'),
    },
    Number.POSITIVE_INFINITY,
  )
  stream.start()
  return { stream, call, seen }
}

/** Waits until a stream waits for its client. */
async function paused(call: RunningCall): Promise<void> {
  while (call.waitsSince < Number.POSITIVE_INFINITY) await turn()
}

/** Turns in which a stream does all that it can. */
async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await turn()
}

const kinds: Record<
  string,
  (state: { made: number; closed: boolean }, size: number) => Iterator<string> | AsyncIterator<string>
> = {
  *synchronous(state, size) {
    try {
      for (;;) {
        state.made++
        yield 'x'.repeat(size)
      }
    } finally {
      state.closed = true
    }
  },
  async *asynchronous(state, size) {
    try {
      for (;;) {
        state.made++
        yield 'x'.repeat(size)
      }
    } finally {
      state.closed = true
    }
  },
}

for (const [name, endless] of Object.entries(kinds)) {
  t.test(`a slow client, ${name}`, async t => {
    const state = { made: 0, closed: false }
    const { stream, call, seen } = streamOf(endless(state, KI))
    // The client has begun to read: before, the deadline counts.
    stream.taken(0)
    const sizes = () => seen.slice(1).map(chunk => (chunk as string).length / KI)
    const sent = () => sizes().reduce((sum, size) => sum + size, 0)
    await paused(call)
    // Chunks of 32 Ki, of which 128 Ki are sent ahead.
    t.same(sizes(), [32, 32, 32, 32])
    t.equal(state.made, 128, 'nothing else was made')
    stream.taken(32 * KI)
    t.ok(call.waitsSince < Number.POSITIVE_INFINITY, 'only the time of the client does not count')
    await paused(call)
    t.equal(sent(), 160)
    t.equal(state.made, 160)
    stream.gone()
    await settled()
    t.ok(state.closed, 'finally has run')
    t.equal(state.made, 160)
    t.equal(seen.at(-1), 'end')
  })

  t.test(`values larger than all that is sent ahead, ${name}`, async t => {
    const state = { made: 0, closed: false }
    const { stream, call } = streamOf(endless(state, 300 * KI))
    stream.taken(0)
    await paused(call)
    t.equal(state.made, 1)
    stream.taken(300 * KI)
    await paused(call)
    t.equal(state.made, 2)
  })
}

async function check(t: Test, values: Iterator<unknown> | AsyncIterator<unknown>, expected: unknown[]) {
  const { seen } = streamOf(values)
  while (!/^(end|failed)/.test(String(seen.at(-1)))) await turn()
  t.same(seen, expected)
}

t.test('what is sent together', async t => {
  await check(t, [][Symbol.iterator](), ['head', 'end'])
  await check(t, ['a', 'b'][Symbol.iterator](), ['head', 'ab', 'end'])
  const bytes = [Buffer.from('ä'), 'b'][Symbol.iterator]()
  await check(t, bytes, ['head', Buffer.from('äb'), 'end'])
  async function* waits() {
    yield 'a'
    yield 'b'
    await turn()
    await turn()
    yield 'c'
  }
  await check(t, waits(), ['head', 'ab', 'c', 'end'])
  async function* fails() {
    yield 'a'
    throw 'reason'
  }
  await check(t, fails(), ['head', 'a', 'failed: reason'])
  async function* failsFirst() {
    yield await Promise.reject('reason')
  }
  await check(t, failsFirst(), ['failed: reason'])
})

t.test('one that is stopped ends at once, and its finally runs', async t => {
  const state = { closed: false }
  async function* waits() {
    try {
      yield 'a'
      await new Promise(() => {})
    } finally {
      state.closed = true
    }
  }
  const { stream, seen } = streamOf(waits())
  await settled()
  stream.stop('late')
  t.same(seen, ['head', 'a', 'failed: late'])
  const other = streamOf(
    (function* () {
      try {
        for (;;) yield 'x'.repeat(200 * KI)
      } finally {
        state.closed = true
      }
    })(),
  )
  await settled()
  other.stream.stop('late')
  t.ok(state.closed)
  t.equal(other.seen.at(-1), 'failed: late')
})

t.test('the time limits of a call begin anew with each value', async t => {
  let give!: (value: string) => void
  async function* waits() {
    yield 'a'
    yield await new Promise<string>(resolve => {
      give = resolve
    })
    await new Promise(() => {})
  }
  const { call, seen } = streamOf(waits())
  await settled()
  t.ok(call.waitsSince > 0)
  Object.assign(call, { waitsSince: 0, ranMs: 500 })
  give('b')
  await settled()
  t.same(seen, ['head', 'a', 'b'])
  t.ok(call.waitsSince > 0)
  t.equal(call.ranMs, 0)
})
