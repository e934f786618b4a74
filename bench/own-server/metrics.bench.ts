import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { Child } from '../processes/child.ts'
import type { ServerQuestions } from '../processes/questions.ts'
import { rate } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { askJson, keepAsking } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const ROWS = 10_000
const CONNECTIONS = 32
/** Number of rounds, higher than for other figures, because the differences are about a percent. */
const ROUNDS = 8
const MAX_COST = 0.01

const MODEL = {
  name: 'metrics',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string' }, note: { type: 'string' } },
    },
  },
}
const COUNTING = {}
/** Configuration that counts nothing and treats no request as slow, so that a request causes no such work. */
const SILENT = { metrics: { enabled: false }, log: { level: 'error', slowQueryMs: 0 } }

/** A server, with the cost of a request in each round. */
interface Measured {
  readonly child: Child<ServerQuestions>
  readonly port: number
  readonly perSecond: number[]
  readonly cpuMicros: number[]
}

export default ownServerCase({
  name: 'metrics',
  title: `reads by key with metrics and without, ${ROWS / 1000} k rows, ${CONNECTIONS} connections, in turns`,
  place: async () => makePlace(MODEL, 'store', COUNTING),
  async measure({ ours, seconds, rounds }) {
    const children: Child<ServerQuestions>[] = []
    const server = async (startedServer: { child: Child<ServerQuestions>; port: number }): Promise<Measured> => {
      const items = Array.from({ length: ROWS }, (_, i) => ({ name: `item ${i}`, note: 'x'.repeat(100) }))
      await askJson(startedServer.port, `${oursPath('Item')}?$method=update`, items)
      return { ...startedServer, perSecond: [], cpuMicros: [] }
    }
    const start = async (name: string, config: object): Promise<Measured> => {
      const child = new Child<ServerQuestions>('ours')
      children.push(child)
      const folder = makePlace(MODEL, 'store', config, name)
      const { port } = await child.ask('start', { folder, seed: 0, employees: 0 })
      return server({ child, port })
    }
    try {
      const counting = await server(ours)
      const silent = await start('silent', SILENT)
      // Shows how much two servers differ that do the same.
      const equal = await start('equal', COUNTING)
      const servers = [counting, silent, equal]
      // The first round is a warm-up; each round begins with another server.
      for (let round = 0; round <= ROUNDS * rounds; round++) {
        for (let i = 0; i < servers.length; i++) {
          await askKeys(servers[(round + i) % servers.length]!, seconds, round > 0)
        }
      }
      const cost = (quiet(counting) + quiet(equal)) / 2 / quiet(silent) - 1
      const noise = quiet(counting) / quiet(equal) - 1
      const figure = `${percent(cost)}, two equal servers ${percent(noise)}`
      return {
        lines: [
          `${line('with metrics', counting)}, ${line('without', silent)}`,
          `metrics ${percent(cost)} CPU in quiet rounds; round by round ${spread(difference(counting, silent))}`,
          `two equal servers ${percent(noise)} in quiet rounds; round by round ${spread(difference(counting, equal))}`,
        ],
        verdicts: [
          { case: this.name, goal: `metrics ≤ ${percent(MAX_COST)} CPU`, found: figure, met: cost <= MAX_COST },
        ],
      }
    } finally {
      await Promise.all(children.map(child => child.stop()))
    }
  },
})

const PATHS = Array.from({ length: ROWS }, (_, i) => oursPath(`Item(${((i * 7919) % ROWS) + 1})`))

async function askKeys({ child, port, perSecond, cpuMicros }: Measured, seconds: number, isCounted: boolean) {
  const before = await child.ask('cpu', null)
  const answer = await keepAsking(port, CONNECTIONS, PATHS, delay(seconds * 1000))
  const after = await child.ask('cpu', null)
  if (!isCounted) return
  perSecond.push(answer.perSecond)
  cpuMicros.push((after - before) / answer.count)
}

/** CPU time of a request in the better rounds: other load on the machine only adds to it. */
const quiet = ({ cpuMicros }: Measured): number =>
  cpuMicros.toSorted((a, b) => a - b)[Math.floor(cpuMicros.length / 4)]!

interface Difference {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Additional CPU time of a request as a share, compared round by round: median and quartiles. */
function difference({ cpuMicros }: Measured, than: Measured): Difference {
  const shares = cpuMicros.map((micros, i) => micros / than.cpuMicros[i]! - 1).sort((a, b) => a - b)
  const at = (share: number) => shares[Math.floor(share * (shares.length - 1))]!
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const spread = ({ median, low, high }: Difference): string => `${percent(median)} (${percent(low)} to ${percent(high)})`
const line = (name: string, { perSecond, cpuMicros }: Measured): string =>
  `${name} ${rate(median(perSecond))}/s, ${median(cpuMicros).toFixed(2)} µs CPU`
