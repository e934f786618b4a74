import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { survey, withLog } from './world.ts'

/** Two of three with a log, on the same store. */
const CYCLES = process.env.TESSER_TEST_LONG ? 500 : 6
const SET_CYCLES = process.env.TESSER_TEST_LONG ? 60 : 3
const random = randomOf(seedOf(21))
t.setTimeout(timeoutMs)
const child = (name: string): string => fileURLToPath(new URL(`${name}.child.js`, import.meta.url))

t.test('every acknowledged write survives SIGKILL, and nothing is half written', async t => {
  const path = t.testdir()
  /** Last acknowledged stamp of each city; null once its deletion was acknowledged. */
  const acknowledged = new Map<string, number | null>()
  const beingDeleted = new Set<string>()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const env = withLog(cycle % 3 !== 2)
    const process = fork(child('kill'), [path, String(cycle)], { stdio: 'inherit', env })
    let reports = 0
    // At a different moment in every cycle, but always during writes.
    const enough = random.integer(200, 2_200)
    process.on('message', ([name, stamp]: [string, number | null | undefined]) => {
      if (stamp === undefined) beingDeleted.add(name)
      else acknowledged.set(name, stamp)
      if (++reports === enough) process.kill('SIGKILL')
    })
    const [, signal] = await once(process, 'exit')
    t.equal(signal, 'SIGKILL')

    const { stamps, problems } = await survey(path)
    t.same(problems, [], `cycle ${cycle}: the store is consistent`)
    const lost = [...acknowledged].filter(([name, stamp]) => {
      const found = stamps.get(name)
      if (stamp === null) return found !== undefined
      // A deletion in progress may have completed.
      return found === undefined ? !beingDeleted.has(name) : found < stamp
    })
    t.same(lost, [], `cycle ${cycle}: all ${acknowledged.size} acknowledged writes exist`)
  }
})

t.test('every acknowledged entity set survives SIGKILL, whatever its size', async t => {
  const path = t.testdir()
  /** Members of each acknowledged set; null once its release was acknowledged. */
  const answered = new Map<string, number | null>()
  const inChange = new Set<string>()
  for (let cycle = 0; cycle < SET_CYCLES; cycle++) {
    const process = fork(child('entity-sets'), [path], { stdio: 'inherit', env: withLog(cycle % 3 !== 2) })
    let reports = 0
    const enough = random.integer(50, 350)
    process.on('message', ([id, size]: [string, number | null | undefined]) => {
      if (size === undefined) inChange.add(id)
      else {
        inChange.delete(id)
        answered.set(id, size)
      }
      if (++reports === enough) process.kill('SIGKILL')
    })
    const [, signal] = await once(process, 'exit')
    t.equal(signal, 'SIGKILL')

    const { sets, problems } = await survey(path)
    t.same(problems, [], `cycle ${cycle}: the store is consistent`)
    const lost = [...answered].filter(([id, size]) => !inChange.has(id) && (sets.get(id) ?? null) !== size)
    t.same(lost, [], `cycle ${cycle}: all ${answered.size} sets are as they were acknowledged`)
  }
})

t.test('a writer that hangs fails pending requests, and the store is as it was before its transaction', async t => {
  const path = t.testdir()
  const process = fork(child('stall'), [path], { silent: true })
  let output = ''
  process.stdout!.on('data', data => {
    output += data
  })
  await once(process, 'exit')
  const lines = output.trim().split('\n')
  t.match(lines[0], /no progress for 1000 ms/)
  t.same(lines.slice(1), ['WRITER.OUTCOME_UNKNOWN', 'WRITER.STALLED', 'closed'])
  const { stamps, problems } = await survey(path)
  t.same([...stamps], [['Oslo', 1]])
  t.same(problems, [])
})
