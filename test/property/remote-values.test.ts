/**
 * Entities of dataclasses in PostgreSQL are sent, and their values aggregated, as the reference does, alone and together with those of
 * the store. Skipped where PostgreSQL is not installed.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/remote-values.test.js      repeats one world
 */
import t from 'tap'
import { compareAggregates } from '../support/reference/aggregate-rounds.ts'
import { compareProjections } from '../support/reference/projection-rounds.ts'
import { randomOf } from '../support/base/random.ts'
import { PREPARE_SQL, RemoteWorld } from '../support/reference/remote-world.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'

const WORLDS = isLong ? longCount(100) : 10
const READS = 60

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  t.setTimeout(timeoutMs)
  await server.run(PREPARE_SQL)
  for (const seed of seeds(WORLDS)) {
    t.test(`world ${seed}: every answer has the values of the reference`, async t => {
      const random = randomOf(seed)
      const remote = await RemoteWorld.open(t.testdir({}), server, random, seed % 2 === 1, 30)
      try {
        await compareAggregates(t, remote, random, seed, READS)
        await compareProjections(t, remote, random, seed, READS)
      } finally {
        await remote.engine.close()
      }
    })
  }
}
