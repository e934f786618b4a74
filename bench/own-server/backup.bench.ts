import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { milliseconds, ratio } from '../report/numbers.ts'
import { MODEL } from '../world/model.ts'
import { copyWorld, prepareWorld } from '../world/prepare.ts'
import { World } from '../world/world.ts'
import { askAtRate, requestText } from './ask-at-rate.ts'
import { askJson } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const ROWS = 100_000
const SAVES_PER_SECOND = 500
const BACKUPS = 3
const MAX_FACTOR = 1.5
const POLL_MS = 50

/** Full backups beside saves at a fixed rate. */
export default ownServerCase({
  name: 'backup-beside-writes',
  title: `${BACKUPS} full backups of ${ROWS / 1000} k employees, beside ${SAVES_PER_SECOND} updates a second`,
  async place() {
    const folder = copyWorld(await prepareWorld(new World(1, ROWS), () => {}))
    const options = { backup: { folder: join(folder, 'backups') }, auth: { guestsAdministrate: true } }
    return makePlace(MODEL, join(folder, 'store'), options, 'backup')
  },
  async measure({ ours: { port } }) {
    let number = 0
    const path = oursPath('Employee', { $method: 'update' })
    const saves = (until: Promise<unknown>) =>
      askAtRate(port, {
        perSecond: SAVES_PER_SECOND,
        request: () => {
          const row = (number * 7919) % ROWS
          const stamp = 1 + Math.floor(number++ / ROWS)
          return requestText(path, JSON.stringify({ __KEY: `${row + 1}`, __STAMP: stamp, salary: number }))
        },
        until,
      })
    await saves(delay(1_000))
    const alone = await saves(delay(5_000))
    const beside = await saves(backUp(port))
    const factor = beside.p99Ms / alone.p99Ms
    return {
      lines: [
        `updates beside: p50 ${milliseconds(beside.p50Ms)}, p99 ${milliseconds(beside.p99Ms)} ms; ` +
          `alone: p50 ${milliseconds(alone.p50Ms)}, p99 ${milliseconds(alone.p99Ms)} ms`,
      ],
      verdicts: [
        {
          case: this.name,
          goal: `p99 of the updates beside ≤ ${MAX_FACTOR} × alone`,
          found: ratio(factor),
          met: factor <= MAX_FACTOR,
        },
      ],
    }
  },
})

interface BackupState {
  readonly running: object | null
  readonly last: { readonly error?: string } | null
}

async function backUp(port: number): Promise<void> {
  for (let i = 0; i < BACKUPS; i++) {
    await askJson(port, '/rest/$backup?$full=true', {}, [200, 202])
    for (;;) {
      const { running, last } = (await askJson(port, '/rest/$backup')) as unknown as BackupState
      if (last?.error !== undefined) throw new Error(`the backup failed: ${last.error}`)
      if (!running) break
      await delay(POLL_MS)
    }
  }
}
