/**
 * No request holds the kernel thread or the writer for long, and none costs more than a multiple of its size: every way in with
 * requests of growing size, up to the limits. Times are CPU times, in units of a read of an entity by its key in the same run,
 * so that a slow or busy machine makes no difference.
 */
import t from 'tap'
import fc from '../support/runner/fast-check.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { BOUNDS, CostServer, MEASUREMENTS } from './cost-server.ts'
import { type WayIn, waysIn } from './ways-in.ts'
import { type Cost, shown } from './world.ts'

t.setTimeout(timeoutMs)

/** Permitted factor above linear cost for a request of four times the size. */
const SLACK = 2
/** Smaller sizes say nothing about growth. */
const SMALL = 4 * BOUNDS.turn

/** All in a long run, otherwise the same few each time; `TESSER_TEST_WAYS` selects by a part of their names. */
function chosen(): readonly WayIn[] {
  const wanted = process.env.TESSER_TEST_WAYS
  if (wanted) return waysIn.filter(({ name }) => name.includes(wanted))
  return isLong
    ? waysIn
    : fc.sample(fc.shuffledSubarray([...waysIn], { minLength: 8, maxLength: 8 }), { seed: seedOf(1), numRuns: 1 })[0]!
}

t.test('every way in', { skip: process.platform !== 'linux' && 'CPU of threads is read from /proc' }, async t => {
  const server = new CostServer(t.testdir({}))
  await server.start()
  t.teardown(() => server.end())
  t.comment(`a read by key: ${(server.unit * 1_000).toFixed(1)} µs of CPU; ${chosen().length} ways`)

  for (const way of chosen()) {
    const sizes = [way.max / 16, way.max / 4, way.max].map(Math.floor)
    let before: Measured | undefined
    for (const size of isLong ? sizes : sizes.slice(-2)) {
      let found = await measure(server, way, size)
      let excess = excessOf(found, before)
      for (let again = 1; excess && again < MEASUREMENTS; again++) {
        t.comment(`${way.name}: ${found.size}: ${found.status}, ${shown(found.cost)}; measured again`)
        await server.measureUnit()
        // A slightly smaller size, so that no answer comes from a cache of the last one.
        found = await measure(server, way, Math.floor(size * (1 - again / 50)))
        excess = excessOf(found, before)
      }
      t.comment(`${way.name}: ${found.size}: ${found.status}, ${shown(found.cost)}`)
      t.notOk(excess, `${way.name}, ${size}: ${excess ?? 'within its bounds'}`)
      before = found
    }
  }
})

/** A cost in units, because times change with the load of the machine. */
interface Measured {
  readonly size: number
  readonly status: number
  readonly cost: Cost
  readonly turn: number
  readonly writerWait: number
  readonly all: number
}

async function measure(server: CostServer, way: WayIn, size: number): Promise<Measured> {
  let status = 0
  const cost = await server.measured(async () => {
    status = await server.ask(way, size)
  })
  const [turn, writerWait, all] = [cost.turn, cost.writerWait, cost.all].map(each => server.inUnits(each))
  return { size, status, cost, turn: turn!, writerWait: writerWait!, all: all! }
}

/** Names the bound that is exceeded. */
function excessOf({ size, turn, writerWait, all }: Measured, before: Measured | undefined): string | undefined {
  if (turn > BOUNDS.turn) return `a turn of ${turn} units`
  if (writerWait > BOUNDS.writerWait) return `others wait for the writer for ${writerWait} units`
  if (before && all > SLACK * (size / before.size) * Math.max(before.all, SMALL)) {
    return `${all} units after ${before.all}`
  }
  return undefined
}
