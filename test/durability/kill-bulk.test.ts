import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { CITIES, cityName, survey, withLog } from './world.ts'

const CYCLES = process.env.TESSER_TEST_LONG ? 120 : 3
/** Maximum time between the announcement of a save and the end of the process: longer than a save takes. */
const MAX_MS = 300
const random = randomOf(seedOf(23))
t.setTimeout(timeoutMs)

t.test('of large saves, SIGKILL leaves what was answered, and otherwise all, none or the first entities', async t => {
  const path = t.testdir()
  const isAtomic = new Map<string, boolean>()
  const answered = new Set<string>()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const script = fileURLToPath(new URL('kill-bulk.child.js', import.meta.url))
    const process = fork(script, [path, String(cycle)], { stdio: 'inherit', env: withLog(cycle % 3 !== 2) })
    let begun = 0
    const enough = random.integer(2, 6)
    process.on('message', async ([save, atomic]: [string, boolean | undefined]) => {
      if (atomic === undefined) answered.add(save)
      else isAtomic.set(save, atomic)
      if (atomic === undefined || ++begun !== enough) return
      await delay(random.integer(0, MAX_MS))
      process.kill('SIGKILL')
    })
    const [, signal] = await once(process, 'exit')
    t.equal(signal, 'SIGKILL')

    const { stamps, problems } = await survey(path)
    t.same(problems, [], `cycle ${cycle}: the store is consistent`)
    let count = 0
    for (const [save, atomic] of isAtomic) {
      let found = 0
      while (found < CITIES && stamps.has(cityName(save, found))) found++
      count += found
      if (answered.has(save)) t.equal(found, CITIES, `save ${save} was answered`)
      else if (atomic) t.ok(found === 0 || found === CITIES, `save ${save} is whole or absent: ${found}`)
    }
    t.equal(stamps.size, count, `cycle ${cycle}: no entity is there without those before it`)
  }
  t.ok(answered.size > 0)
})
