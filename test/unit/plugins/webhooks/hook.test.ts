/** One hook with a clock, a log and a receiver of the test: attempts, order, bounds, places. */
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { pino } from 'pino'
import type { Clock } from '../../../../plugins/webhooks/clock.ts'
import { Hook } from '../../../../plugins/webhooks/hook.ts'
import type { HookOptions } from '../../../../plugins/webhooks/options.ts'
import { retryDelay } from '../../../../plugins/webhooks/retry-delay.ts'
import type { Outcome } from '../../../../plugins/webhooks/send.ts'

type Context = Parameters<typeof Hook.open>[0]
type Batch = Awaited<ReturnType<Context['commits']['read']>>
type Change = Batch['changes'][number]
type Place = Batch['next']

const OPTIONS: HookOptions = {
  name: 'h',
  url: 'https://example.com/',
  secret: '',
  dataClass: 'Order',
  events: ['created', 'updated', 'deleted'],
  allowPrivate: false,
  concurrency: 2,
  timeoutSeconds: 10,
  firstRetrySeconds: 5,
  maxRetrySeconds: 60,
  maxAgeHours: 1,
  deadLetters: 10,
}

class FakeClock implements Clock {
  time = 0
  private timers: { at: number; run: () => void }[] = []

  now(): number {
    return this.time
  }

  random(): number {
    return 0.5
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + ms, run }
    this.timers.push(timer)
    return () => {
      this.timers = this.timers.filter(each => each !== timer)
    }
  }

  /** Moves to a time, timer by timer. */
  async to(time: number): Promise<void> {
    for (;;) {
      await settle()
      const next = this.timers.filter(({ at }) => at <= time).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.timers = this.timers.filter(each => each !== next)
      this.time = next.at
      next.run()
    }
    this.time = time
  }
}

/** Lets promises that need no timer go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

/** A log whose nth record has one change. */
class FakeLog {
  readonly changes: Change[] = []
  reads = 0
  count = 0
  gap: Batch['gap']
  private wake = (): void => {}

  add(key: string, kind: Change['kind'] = 'updated', given: Partial<Change> = {}): void {
    const n = this.changes.length
    this.changes.push({
      place: place(n),
      id: `id${n + 1}`,
      kind,
      key,
      time: 1_000 * n,
      entity: `{"n":${n + 1}}`,
      ...given,
    })
    this.count++
    this.wake()
  }

  readonly commits: Context['commits'] = Object.defineProperty(
    {
      isLogged: true,
      check: () => {},
      readTo: () => {},
      end: () => place(this.changes.length),
      commitAfter: async (seen: number) => {
        if (this.count === seen) await new Promise<void>(resolve => (this.wake = resolve))
      },
      read: async ({ after, maxChanges }: { after: Place; maxChanges: number }) => {
        this.reads++
        const { gap } = this
        this.gap = undefined
        const changes = this.changes.slice(after.sequence, after.sequence + maxChanges)
        const next = place(after.sequence + changes.length)
        return { changes, next, last: this.changes.length, unknown: 0, ...(gap && { gap }) }
      },
    } as unknown as Context['commits'],
    'commits',
    { get: () => this.count },
  )
}

const place = (sequence: number): Place => ({ sequence, hash: '', index: 0 })

class FakeRecords {
  readonly map = new Map<string, unknown>()
  puts = 0

  get(key: string): unknown {
    return this.map.get(key)
  }

  list(prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] {
    const keys = [...this.map.keys()].sort().filter(key => key.startsWith(prefix) && key > after)
    return keys.slice(0, limit).map(key => ({ key, value: this.map.get(key) }))
  }

  async put(changes: readonly { key: string; value: unknown }[]): Promise<void> {
    this.puts++
    for (const { key, value } of changes)
      value === undefined ? this.map.delete(key) : this.map.set(key, structuredClone(value))
  }
}

const OK: Outcome = { kind: 'delivered' }
const failed = (reason = 'answered 500', retryAfterMs = 0): Outcome => ({ kind: 'failed', reason, retryAfterMs })

/** A receiver that answers by `outcome`; what it gets is noted with the time. */
class FakeSender {
  readonly sent: { at: number; id: string; body: string }[] = []
  outcome: (n: number, body: string, signal: AbortSignal) => Outcome | Promise<Outcome> = () => OK
  running = 0
  mostRunning = 0

  constructor(private readonly clock: FakeClock) {}

  async send(id: string, body: string, signal: AbortSignal): Promise<Outcome> {
    this.sent.push({ at: this.clock.time, id, body })
    this.running++
    this.mostRunning = Math.max(this.mostRunning, this.running)
    await turn()
    const outcome = await this.outcome(this.sent.length, body, signal)
    this.running--
    return outcome
  }

  close(): void {}
}

async function open(t: Test, options: Partial<HookOptions> = {}, records = new FakeRecords(), log = new FakeLog()) {
  const clock = new FakeClock()
  const sender = new FakeSender(clock)
  const context = { options: { ...OPTIONS, ...options }, commits: log.commits, records, sender, clock, onSaved() {} }
  const hook = await Hook.open({ ...context, log: pino({ level: 'silent' }) })
  void hook.run()
  t.teardown(() => hook.close())
  return { clock, sender, hook, log, records }
}

/** Times after the first attempt. */
const timesOf = ({ sent }: FakeSender): number[] => sent.map(({ at }) => at - sent[0]!.at)

const numberOf = ({ body }: { body: string }): number => JSON.parse(body).data.n

t.test('the time between attempts doubles up to a maximum, and is spread', t => {
  const delays = [1, 2, 3, 4, 5, 6, 100].map(attempts => retryDelay(OPTIONS, attempts, 0) / 1000)
  t.same(delays, [2.5, 5, 10, 20, 30, 30, 30])
  t.same(
    [0, 0.5, 0.999].map(random => Math.round(retryDelay(OPTIONS, 1, random))),
    [2500, 3750, 4998],
  )
  t.end()
})

t.test('an event is sent again with the same id, later and later, until it is taken', async t => {
  const { clock, sender, hook, log } = await open(t)
  sender.outcome = n => (n < 4 ? failed() : OK)
  log.add('a')
  await clock.to(600_000)
  t.same(timesOf(sender), [0, 3_750, 11_250, 26_250])
  t.equal(new Set(sender.sent.map(({ id }) => id)).size, 1)
  t.match(hook, { counts: { delivered: 1, failedAttempts: 3, givenUp: 0 }, pending: 0, failure: undefined })
})

t.test('a receiver may say when', async t => {
  const { clock, sender, log } = await open(t)
  sender.outcome = n => (n === 1 ? failed('answered 429', 120_000) : OK)
  log.add('a')
  await clock.to(600_000)
  t.same(timesOf(sender), [0, 120_000])
})

t.test(
  'an event is given up after its time, at once when the receiver does not want it, and if it cannot be read',
  async t => {
    const cases: [string, Partial<HookOptions>, () => Outcome, Partial<Change>, number, RegExp][] = [
      ['its time is over', { maxAgeHours: 0.01 }, () => failed(), {}, 4, /^answered 500$/],
      ['410', {}, () => ({ kind: 'gone', reason: 'answered 410' }), {}, 1, /^answered 410$/],
      ['it cannot be read', {}, () => OK, { entity: undefined, problem: 'too much' }, 0, /^too much$/],
      ['it is too large', {}, () => OK, { entity: 'x'.repeat(2 ** 20 + 1) }, 0, /more than 1048576 characters/],
    ]
    for (const [name, options, outcome, change, attempts, reason] of cases) {
      const { clock, sender, hook, log, records } = await open(t, options)
      sender.outcome = outcome
      log.add('a', 'created', change)
      log.add('b')
      await clock.to(3_600_000)
      t.equal(sender.sent.filter(sent => numberOf(sent) === 1).length, attempts, name)
      t.match(hook.letters.list()[0], { type: 'Order.created', key: 'a', attempts, reason }, name)
      t.equal(hook.pending, 0)
      t.equal((records.get('cursor/h') as Place).sequence, 2)
    }
  },
)

t.test('events of an entity keep their order while others go on, a few at a time', async t => {
  const { clock, sender, log } = await open(t)
  // The third event of each entity fails at first.
  const failures = new Set<string>()
  sender.outcome = (_, body) => {
    const { n } = JSON.parse(body).data
    if (n % 4 !== 3 || failures.has(body)) return OK
    failures.add(body)
    return failed()
  }
  for (let i = 0; i < 40; i++) log.add(`${i % 5}`)
  await clock.to(600_000)
  const taken = new Map<number, number[]>()
  for (const sent of sender.sent) {
    const n = numberOf(sent)
    const list = taken.get((n - 1) % 5) ?? []
    taken.set((n - 1) % 5, [...list.filter(each => each !== n), n])
  }
  for (const [key, list] of taken)
    t.same(
      list,
      [...list].sort((a, b) => a - b),
      `entity ${key}`,
    )
  t.equal(sender.sent.length, 50)
  t.equal(sender.mostRunning, 2)
})

t.test('an attempt has a limit of time', async t => {
  const { clock, sender, hook, log } = await open(t)
  sender.outcome = (n, _, signal) =>
    n > 1
      ? OK
      : new Promise(resolve =>
          signal.addEventListener('abort', () => resolve(failed((signal.reason as Error).message))),
        )
  log.add('a')
  await clock.to(10_009)
  t.equal(hook.failure, undefined)
  await clock.to(10_010)
  t.match(hook.failure, { at: 10_010, reason: 'no answer within 10 s' })
  await clock.to(60_000)
  t.match(hook, { counts: { delivered: 1 }, failure: undefined })
})

t.test('the log is read no faster than a receiver takes events', async t => {
  const { clock, sender, hook, log } = await open(t)
  let isDown = true
  sender.outcome = () => (isDown ? failed() : OK)
  for (let i = 0; i < 5_000; i++) log.add(`${i}`)
  await clock.to(60_000)
  t.ok(hook.pending >= 1_000 && hook.pending <= 1_250, `${hook.pending} in memory`)
  t.match(hook.lag, { records: 5_000, seconds: 60 })
  isDown = false
  await clock.to(600_000)
  t.same([hook.pending, hook.counts.delivered, hook.lag.records], [0, 5_000, 0])
})

t.test('a restart continues in front of the oldest event that was not taken, and a new hook at the end', async t => {
  const first = await open(t)
  first.sender.outcome = (_, body) => (JSON.parse(body).data.n === 3 ? failed() : OK)
  for (const key of ['a', 'b', 'c', 'd', 'e']) first.log.add(key)
  await first.clock.to(2_000)
  await first.hook.close()
  t.equal((first.records.get('cursor/h') as Place).sequence, 2)
  const second = await open(t, {}, first.records, first.log)
  await second.clock.to(2_000)
  t.same(second.sender.sent.map(numberOf), [3, 4, 5])
  const idOf3 = first.sender.sent.find(sent => numberOf(sent) === 3)!.id
  t.equal(second.sender.sent[0]!.id, idOf3)
  const other = await open(t, { name: 'other' }, first.records, first.log)
  await other.clock.to(2_000)
  t.equal(other.sender.sent.length, 0)
  first.log.add('f')
  await other.clock.to(4_000)
  t.same(other.sender.sent.map(numberOf), [6])
  await second.clock.to(4_000)
  t.not(other.sender.sent[0]!.id, second.sender.sent.at(-1)!.id, 'each hook has ids of its own')
})

t.test('the place is written once a second, not for each event', async t => {
  const { clock, log, records } = await open(t, { concurrency: 64 })
  for (let i = 0; i < 500; i++) log.add(`${i}`)
  await clock.to(10_000)
  t.ok(records.puts <= 11, `${records.puts} writes`)
  t.equal((records.get('cursor/h') as Place).sequence, 500)
})

t.test('commits that are gone are counted', async t => {
  const { clock, hook, log } = await open(t)
  log.gap = { from: 1, to: 7 }
  log.add('a')
  await clock.to(1_000)
  t.equal(hook.counts.skippedRecords, 7)
})

t.test('dead letters are there after a restart, the newest of them', async t => {
  const first = await open(t, { deadLetters: 3 })
  first.sender.outcome = () => ({ kind: 'gone', reason: 'answered 410' })
  for (let i = 0; i < 30; i++) first.log.add(`${i}`)
  await first.clock.to(5_000)
  t.equal(first.hook.counts.givenUp, 30)
  const second = await open(t, { deadLetters: 3 }, first.records, first.log)
  t.same(
    second.hook.letters.list().map(({ key }) => key),
    ['27', '28', '29'],
  )
  const { id } = second.hook.letters.list()[0]!
  t.same(await second.hook.resend(id), OK)
  t.equal(second.hook.letters.size, 2)
  t.match(second.sender.sent, [{ id, body: first.sender.sent.find(sent => sent.id === id)!.body }])
})
