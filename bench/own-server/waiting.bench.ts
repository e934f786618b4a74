import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { Child } from '../processes/child.ts'
import type { CallQuestions } from '../processes/questions.ts'
import { milliseconds, rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { askJson, keepAsking } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const ROWS = 10_000
const CALLS = 2_000
/** Durations of the wait in a call: one so short that the calls use the whole machine, one so long that they use little of it. */
const WAITS_MS = { short: 100, long: 2_000 }
/** Minimum length of a round: connecting takes a part of it. */
const SECONDS = 4
const READERS = 8
const READS = 0.9

const MODEL = {
  name: 'waiting',
  dataClasses: {
    Item: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string' } } },
  },
}

/**
 * The clients share the cores with the server, and each sends its next call immediately. With the short wait, the concurrent reads show how
 * the cores are shared; with the long one, how much waiting calls cost.
 */
export default ownServerCase({
  name: 'calls-in-flight',
  title: `${CALLS} calls in flight that wait in two threads, while ${READERS} connections read by key`,
  place: async () =>
    makePlace(MODEL, 'waiting', { plugins: [resolve('bench/own-server/waiting/index.ts')], functions: { threads: 2 } }),
  async measure({ ours: { port }, seconds, rounds }) {
    const items = Array.from({ length: ROWS }, (_, i) => ({ name: `item ${i}` }))
    await askJson(port, `${oursPath('Item')}?$method=update`, items)
    const paths = Array.from({ length: ROWS }, (_, i) => oursPath(`Item(${((i * 7919) % ROWS) + 1})`))
    const calls = new Child<CallQuestions>('calls')
    const length = Math.max(SECONDS, seconds)
    const measure = async (waitMs: number): Promise<Found> => {
      const path = oursPath('$catalog/waits', { $params: `[${waitMs}]` })
      const { result } = await askJson(port, path)
      if (result !== 0) throw new Error(`${path} is answered with ${String(result)}`)
      const rates = { alone: [] as number[], beside: [] as number[], calls: [] as number[], p99Ms: [] as number[] }
      for (let round = 0; round < rounds; round++) {
        const alone = await keepAsking(port, READERS, paths, delay(length * 1000))
        const calling = calls.ask('keep', { port, path, connections: CALLS, seconds: length })
        const beside = await keepAsking(port, READERS, paths, calling)
        const { perSecond, p99Ms } = await calling
        rates.alone.push(alone.perSecond)
        rates.beside.push(beside.perSecond)
        rates.calls.push(perSecond)
        rates.p99Ms.push(p99Ms)
      }
      return {
        share: median(rates.beside) / median(rates.alone),
        line:
          `waits of ${waitMs} ms: ${rate(median(rates.calls))} calls/s, p99 ${milliseconds(median(rates.p99Ms))} ms; ` +
          `reads beside: ${rate(median(rates.beside))}/s, alone: ${rate(median(rates.alone))}/s`,
      }
    }
    try {
      const short = await measure(WAITS_MS.short)
      const long = await measure(WAITS_MS.long)
      const goal = `reads beside waits of ${WAITS_MS.long} ms ≥ ${ratio(READS)} of alone`
      return {
        lines: [short.line, long.line],
        verdicts: [{ case: this.name, goal, found: ratio(long.share), met: long.share >= READS }],
      }
    } finally {
      await calls.stop()
    }
  },
})

interface Found {
  /** Rate of reads during the calls, as a share of their rate without calls. */
  readonly share: number
  readonly line: string
}
