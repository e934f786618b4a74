import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { milliseconds, rate, ratio } from '../report/numbers.ts'
import { MODEL } from '../world/model.ts'
import { copyWorld, prepareWorld } from '../world/prepare.ts'
import { writeCsv } from '../world/write-csv.ts'
import { World } from '../world/world.ts'
import { askAtRate, requestText } from './ask-at-rate.ts'
import { askJson } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const ROWS = 100_000
const IMPORTED = 300_000
const READS_PER_SECOND = 1_000
const MAX_FACTOR = 2

let file = ''

/** An import beside reads at a fixed rate. */
export default ownServerCase({
  name: 'import-beside-reads',
  title: `import of ${IMPORTED / 1000} k employees from CSV into ${ROWS / 1000} k, beside ${READS_PER_SECOND} reads a second`,
  async place() {
    const folder = copyWorld(await prepareWorld(new World(1, ROWS), () => {}))
    const world = new World(1, ROWS + IMPORTED)
    file = writeCsv(join(folder, 'employees.csv'), IMPORTED, row => world.employee(ROWS + row))
    return makePlace(MODEL, join(folder, 'store'), { auth: { guestsAdministrate: true } }, 'import')
  },
  async measure({ ours: { port }, upload }) {
    const reads = (until: Promise<unknown>) =>
      askAtRate(port, {
        perSecond: READS_PER_SECOND,
        request: n => requestText(oursPath(`Employee(${1 + ((n * 7919) % ROWS)})`)),
        until,
      })
    await reads(delay(1_000))
    const alone = await reads(delay(5_000))
    const importing = upload.ask('import', { port, dataClass: 'Employee', file })
    const beside = await reads(importing)
    const { inserted, seconds } = await importing
    const { __COUNT } = await askJson(port, oursPath('Employee', { $top: '0' }))
    if (inserted !== IMPORTED || __COUNT !== ROWS + IMPORTED)
      throw new Error(`${inserted} rows were inserted, and there are ${__COUNT}`)
    const factor = beside.p99Ms / alone.p99Ms
    return {
      lines: [
        `${seconds.toFixed(1)} s, ${rate(IMPORTED / seconds)} rows/s; reads beside: p50 ${milliseconds(beside.p50Ms)}, ` +
          `p99 ${milliseconds(beside.p99Ms)} ms; alone: p50 ${milliseconds(alone.p50Ms)}, p99 ${milliseconds(alone.p99Ms)} ms`,
      ],
      verdicts: [
        {
          case: this.name,
          goal: `p99 of the reads beside ≤ ${MAX_FACTOR} × alone`,
          found: ratio(factor),
          met: factor <= MAX_FACTOR,
        },
      ],
    }
  },
})
