import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { oursPath } from '../http/http-case.ts'
import { Child } from '../processes/child.ts'
import type { CallQuestions } from '../processes/questions.ts'
import { rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { askJson } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const CONNECTIONS = 64
const EVENTS = 5_000
const GOALS = { writes: 0.8, eventsPerSecond: 1_000 }

const entity = {
  key: 'ID',
  attributes: { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string' }, amount: { type: 'number' } },
}
const MODEL = { name: 'webhooks', dataClasses: { Unwatched: entity, Filtered: entity, Watched: entity } }
const CLASSES = ['Unwatched', 'Filtered', 'Watched'] as const

/** Events that have arrived. The receiver is in this process, which does nothing else meanwhile. */
const arrivals = { count: 0, wanted: Number.POSITIVE_INFINITY, reached: () => {} }
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    response.end()
    if (++arrivals.count === arrivals.wanted) arrivals.reached()
  })
})

function arrival(count: number): Promise<void> {
  return new Promise(resolve => {
    if (arrivals.count >= count) resolve()
    else Object.assign(arrivals, { wanted: count, reached: resolve })
  })
}

/** The cost of hooks for writers, and the rate of events. */
export default ownServerCase({
  name: 'webhooks',
  title: `durable insert of one, ${CONNECTIONS} connections, without a hook and with one; ${EVENTS} events to one receiver`,
  async place() {
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    const secret = `whsec_${Buffer.alloc(32, 'benchmark').toString('base64')}`
    const hook = { url: `http://127.0.0.1:${port}/`, secret, allowPrivate: true, concurrency: 64 }
    const hooks = [
      { ...hook, name: 'watched', dataClass: 'Watched' },
      { ...hook, name: 'filtered', dataClass: 'Filtered', filter: 'amount < 0' },
    ]
    return makePlace(MODEL, 'webhooks', { plugins: [{ plugin: 'tesser/plugins/webhooks', options: { hooks } }] })
  },
  async measure({ ours: { port }, seconds, rounds }) {
    const calls = new Child<CallQuestions>('calls')
    const rates: Record<string, number[]> = { Unwatched: [], Filtered: [], Watched: [] }
    const events: number[] = []
    let sentCount = 0
    try {
      // The first round warms up.
      for (let round = 0; round <= rounds; round++) {
        for (const dataClass of CLASSES) {
          const path = `${oursPath(dataClass)}?$method=update`
          const body = JSON.stringify({ name: `item ${round}`, amount: 12.5 })
          const { count, perSecond } = await calls.ask('keep', { port, path, body, connections: CONNECTIONS, seconds })
          if (dataClass === 'Watched') sentCount += count
          if (round > 0) rates[dataClass]!.push(perSecond)
        }
        await arrival(sentCount)
        const startedAt = performance.now()
        const items = Array.from({ length: EVENTS }, (_, i) => ({ name: `item ${i}`, amount: i }))
        await askJson(port, `${oursPath('Watched')}?$method=update`, items)
        sentCount += EVENTS
        await arrival(sentCount)
        if (round > 0) events.push((EVENTS / (performance.now() - startedAt)) * 1000)
      }
    } finally {
      await calls.stop()
      receiver.close()
      receiver.closeAllConnections()
    }
    if (arrivals.count !== sentCount) throw new Error(`${arrivals.count} events have arrived, of ${sentCount}`)
    const [unwatchedRate, filteredRate, watchedRate] = CLASSES.map(name => median(rates[name]!)) as [
      number,
      number,
      number,
    ]
    const perSecond = median(events)
    const verdict = (goal: string, figure: number, limit: number, show: (n: number) => string) => ({
      ...{ case: this.name, goal: `${goal} ≥ ${show(limit)}`, found: show(figure), met: figure >= limit },
    })
    return {
      lines: [
        `saves/s: ${rate(unwatchedRate)} without a hook, ${rate(filteredRate)} with one that sends none of them, ${rate(watchedRate)} with one that ` +
          'sends each, to a receiver on the same machine',
        `events/s, from one write of ${EVENTS} entities to the arrival of the last event: ${rate(perSecond)}`,
      ],
      verdicts: [
        verdict('with a hook that sends none, of without', filteredRate / unwatchedRate, GOALS.writes, ratio),
        verdict('events/s', perSecond, GOALS.eventsPerSecond, rate),
      ],
    }
  },
})
