import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { Child } from '../processes/child.ts'
import type { CallQuestions } from '../processes/questions.ts'
import { rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { askJson } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const CONNECTIONS = 64
const JOBS = 10_000
const GOALS = { events: 0.5, jobs: 0.9, jobsPerSecond: 1_000 }
const LOOK_MS = 20

const entity = {
  key: 'ID',
  attributes: {
    ID: { type: 'long', autoFill: 'increment' },
    name: { type: 'string', indexed: true },
    amount: { type: 'number' },
  },
}
const MODEL = { name: 'events', dataClasses: { Plain: entity, Checked: entity, Enqueuing: entity } }
const CLASSES = ['Plain', 'Checked', 'Enqueuing'] as const

/** The cost of code around saves, and of jobs. */
export default ownServerCase({
  name: 'events-and-jobs',
  title: `durable insert of one, ${CONNECTIONS} connections, with an event and with a job; ${JOBS} jobs`,
  place: async () =>
    makePlace(MODEL, 'events', {
      plugins: [resolve('bench/own-server/events/index.ts')],
      functions: { threads: 2 },
      auth: { guestsAdministrate: true },
    }),
  async measure({ ours: { port }, seconds, rounds }) {
    const calls = new Child<CallQuestions>('calls')
    const rates: Record<string, number[]> = { Plain: [], Checked: [], Enqueuing: [] }
    const jobs: number[] = []
    try {
      // The first round warms up.
      for (let round = 0; round <= rounds; round++) {
        for (const dataClass of CLASSES) {
          const path = `${oursPath(dataClass)}?$method=update`
          const body = JSON.stringify({ name: `item ${round}`, amount: 12.5 })
          const { perSecond } = await calls.ask('keep', { port, path, body, connections: CONNECTIONS, seconds })
          if (round > 0) rates[dataClass]!.push(perSecond)
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
    const [plain, checked, enqueuing] = CLASSES.map(dataClass => median(rates[dataClass]!)) as [number, number, number]
    const perSecond = median(jobs)
    const verdict = (goal: string, found: number, wanted: number, show: (n: number) => string) => ({
      ...{ case: this.name, goal: `${goal} ≥ ${show(wanted)}`, found: show(found), met: found >= wanted },
    })
    return {
      lines: [
        `saves/s: ${rate(plain)} without code, ${rate(checked)} with an event, ${rate(enqueuing)} with an event that enqueues a job`,
        `jobs/s, from their transaction to their end: ${rate(perSecond)}`,
      ],
      verdicts: [
        verdict('with an event, of without code', checked / plain, GOALS.events, ratio),
        verdict('with a job, of with an event', enqueuing / checked, GOALS.jobs, ratio),
        verdict('jobs/s', perSecond, GOALS.jobsPerSecond, rate),
      ],
    }
  },
})
