/**
 * Random programs of events, run by eight clients at once: what the events have read and written is what they would have read and
 * written if the saves had come one after the other, in the order of their commits. Saves that were refused leave nothing. In long runs,
 * the same holds on servers that are killed while the clients send.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/event-rules.test.js      repeats one world
 */
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LiveServer } from '../support/servers/live-server.ts'
import { CLIENTS, Ledger } from '../support/ledger/ledger.ts'
import { type Ask, LEDGER_MODEL } from '../support/ledger/programs.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { optionsOf, settingOf, wantedSetting } from '../support/runner/setting.ts'
import { ledgerPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

const WORLDS = isLong ? longCount(250) : 5
const KILLED_WORLDS = longCount(15)
const KILLS = 10
const PROGRAMS = 40

t.setTimeout(timeoutMs)
for (const seed of seeds(WORLDS)) {
  t.test(`world ${seed}`, async t => {
    const server = await startServer(
      t,
      { model: LEDGER_MODEL, rows: {} },
      { config: { plugins: [ledgerPlugin], functions: { threads: 2 } } },
    )
    const ask: Ask = async (path, body) => (await (body ? server.post(path, body) : server.get(path))).json
    const ledger = new Ledger(seed)
    await ledger.begin(ask)
    await Promise.all(ledger.send(ask, PROGRAMS))
    await ledger.check(t, ask)
  })
}
for (const seed of isLong ? seeds(KILLED_WORLDS) : [])
  t.test(`world ${seed}, killed again and again`, t => checkKilled(t, seed))

async function checkKilled(t: Test, seed: number): Promise<void> {
  const folder = temporaryFolder(t)
  const { pool, ...storage } = optionsOf(wantedSetting() ?? settingOf(t))
  const config = { pool, storage: { ...storage, log: seed % 3 === 0 ? 'off' : 'on' } }
  const server = new LiveServer('ledger.child.js', () => [folder, JSON.stringify(config)])
  let answers = 0
  let isKilled = false
  const ask: Ask = async (path, body) => {
    try {
      const { bytes } = await server.send(body ? 'POST' : 'GET', path, body as object)
      answers++
      return JSON.parse(bytes.toString())
    } catch (error) {
      if (!isKilled) t.fail(`the server failed to answer before it was killed: ${error}`)
      throw error
    }
  }
  const random = randomOf(seed)
  const ledger = new Ledger(seed)
  await server.start()
  await ledger.begin(ask)
  for (let kill = 0; kill < KILLS; kill++) {
    const enough = answers + random.integer(1, PROGRAMS - CLIENTS)
    const clients = Promise.allSettled(ledger.send(ask, PROGRAMS))
    while (answers < enough) await delay(1)
    await delay(random.integer(0, 4))
    isKilled = true
    await server.kill()
    await clients
    await server.start()
    isKilled = false
    await ledger.check(t, ask)
  }
  await server.stop()
}
