import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { Child } from '../processes/child.ts'
import type { CallQuestions } from '../processes/questions.ts'
import { milliseconds, rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { askJson } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const CONNECTIONS = 64
/** Clients whose saves conflict all the time. */
const RIVALS = 8
const JOBS = 10_000
const GOALS = { events: 0.5, related: 0.8, jobs: 0.9, jobsPerSecond: 1_000, runs: 3 }
const LOOK_MS = 20

const long = { type: 'long' }
const item = {
  ID: { ...long, autoFill: 'increment' },
  name: { type: 'string', indexed: true },
  amount: { type: 'number' },
}
const account = { accountID: long, account: { kind: 'relatedEntity', type: 'Account', foreignKey: 'accountID' } }
/** Thread of the event, and the number of runs of the event in that thread, up to the run that was saved. */
const counters = { thread: long, runs: long }
const MODEL = {
  name: 'events',
  dataClasses: {
    Account: { key: 'ID', attributes: { ID: long, balance: { type: 'number' } } },
    Plain: { key: 'ID', attributes: item },
    Checked: { key: 'ID', attributes: item },
    Enqueuing: { key: 'ID', attributes: item },
    Linked: { key: 'ID', attributes: { ...item, ...account } },
    Reading: { key: 'ID', attributes: { ...item, ...account } },
    Booking: { key: 'ID', attributes: { ...item, ...account, ...counters } },
    Numbered: { key: 'ID', attributes: { ...item, ...counters, number: long } },
  },
}
const PLAIN = { name: 'item', amount: 1 }
const LINKED = { ...PLAIN, accountID: 1 }
const ENTITIES = {
  Plain: { connections: CONNECTIONS, values: PLAIN },
  Checked: { connections: CONNECTIONS, values: PLAIN },
  Enqueuing: { connections: CONNECTIONS, values: PLAIN },
  Linked: { connections: CONNECTIONS, values: LINKED },
  Reading: { connections: CONNECTIONS, values: LINKED },
  Booking: { connections: RIVALS, values: LINKED },
  Numbered: { connections: RIVALS, values: PLAIN },
}
type Name = keyof typeof ENTITIES
const NAMES = Object.keys(ENTITIES) as Name[]

interface Figures {
  readonly perSecond: number
  readonly cpuMicros: number
  readonly p99Ms: number
}

/** The cost of code around saves, and of jobs. */
export default ownServerCase({
  name: 'events-and-jobs',
  title: `durable insert of one, ${CONNECTIONS} connections, with events and jobs; ${RIVALS} connections that conflict; ${JOBS} jobs`,
  place: async () =>
    makePlace(MODEL, 'events', {
      plugins: [resolve('bench/own-server/events/index.ts')],
      functions: { threads: 2 },
      auth: { guestsAdministrate: true },
    }),
  async measure({ ours: { child, port }, seconds, rounds }) {
    const calls = new Child<CallQuestions>('calls')
    const insert = async (name: Name): Promise<Figures> => {
      const { connections, values } = ENTITIES[name]
      const path = `${oursPath(name)}?$method=update`
      const before = await child.ask('cpu', null)
      const answer = await calls.ask('keep', { port, path, body: JSON.stringify(values), connections, seconds })
      return { ...answer, cpuMicros: ((await child.ask('cpu', null)) - before) / answer.count }
    }
    const inserts = Object.fromEntries(NAMES.map(name => [name, [] as Figures[]])) as Record<Name, Figures[]>
    const jobs: number[] = []
    try {
      await askJson(port, `${oursPath('Account')}?$method=update`, { ID: 1, balance: 0 })
      // The first round warms up.
      for (let round = 0; round <= rounds; round++) {
        for (const name of NAMES) {
          const figures = await insert(name)
          if (round > 0) inserts[name].push(figures)
        }
        const startedAt = performance.now()
        await askJson(port, oursPath('$catalog/many'), [JOBS])
        for (;;) {
          const { counts } = (await askJson(port, oursPath('$jobs'))) as { counts: { ready: number; running: number } }
          if (counts.ready + counts.running === 0) break
          await delay(LOOK_MS)
        }
        if (round > 0) jobs.push((JOBS / (performance.now() - startedAt)) * 1000)
      }
    } finally {
      await calls.stop()
    }
    const of = (name: Name, figure: keyof Figures): number => median(inserts[name].map(each => each[figure]))
    const line = (name: Name): string => `${rate(of(name, 'perSecond'))} (${of(name, 'cpuMicros').toFixed(0)} µs)`
    const share = (name: Name, reference: Name): number => of(name, 'perSecond') / of(reference, 'perSecond')
    const bookings = await runsOf(port, 'Booking')
    const numbers = await runsOf(port, 'Numbered')
    const { balance } = await askJson(port, oursPath('Account(1)'))
    if (balance !== bookings.saves) throw new Error(`the balance of ${bookings.saves} bookings is ${balance}`)
    const perSecond = median(jobs)
    const verdict = (goal: string, value: number, limit: number, show: (n: number) => string) => ({
      ...{ case: this.name, goal: `${goal} ≥ ${show(limit)}`, found: show(value), met: value >= limit },
    })
    const runs = (goal: string, { saves, runs }: Runs) => ({
      ...{
        case: this.name,
        goal: `runs of the event a save, ${goal} ≤ ${GOALS.runs}`,
        found: (runs / saves).toFixed(2),
      },
      met: runs <= GOALS.runs * saves,
    })
    return {
      lines: [
        `saves/s (CPU): ${line('Plain')} without code, ${line('Checked')} with an event, ${line('Enqueuing')} with an event that enqueues a job`,
        `of entities with a relation: ${line('Linked')} with an event, ${line('Reading')} with an event that reads the related entity`,
        `${RIVALS} clients that conflict: ${line('Booking')}, p99 ${milliseconds(of('Booking', 'p99Ms'))} ms, with an event that changes the same entity, ${line('Numbered')}, p99 ${milliseconds(of('Numbered', 'p99Ms'))} ms, with one that counts all others`,
        `jobs/s, from their transaction to their end: ${rate(perSecond)}`,
      ],
      verdicts: [
        verdict('with an event, of without code', share('Checked', 'Plain'), GOALS.events, ratio),
        verdict(
          'with an event that reads a related entity, of one that reads nothing',
          share('Reading', 'Linked'),
          GOALS.related,
          ratio,
        ),
        verdict('with a job, of with an event', share('Enqueuing', 'Checked'), GOALS.jobs, ratio),
        runs('all change the same entity', bookings),
        runs('all read each other', numbers),
        verdict('jobs/s', perSecond, GOALS.jobsPerSecond, rate),
      ],
    }
  },
})

interface Runs {
  readonly saves: number
  readonly runs: number
}

/** Number of saves of a dataclass and of runs of its event. @throws {Error} entities have the same number */
async function runsOf(port: number, name: Name): Promise<Runs> {
  const path = oursPath(name, { $top: 10_000_000, $asArray: 'true' })
  const entities = (await askJson(port, path)) as unknown as { thread: number; runs: number; number?: number }[]
  const threads = new Map<number, number>()
  for (const { thread, runs } of entities) threads.set(thread, Math.max(runs, threads.get(thread) ?? 0))
  const numbers = new Set(entities.map(({ number }, i) => number ?? i + 1))
  if (numbers.size < entities.length) throw new Error(`${entities.length} of ${name} have ${numbers.size} numbers`)
  return { saves: entities.length, runs: [...threads.values()].reduce((sum, runs) => sum + runs, 0) }
}
