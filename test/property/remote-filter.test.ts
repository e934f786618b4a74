/**
 * Dataclasses in PostgreSQL are found, ordered and counted as the reference evaluator does, alone and together with those of the store.
 * Skipped where PostgreSQL is not installed.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/remote-filter.test.js      repeats one world
 */
import t from 'tap'
import { compareFilters, hasFailedOften } from '../support/reference/filter-rounds.ts'
import { randomOf } from '../support/base/random.ts'
import { PREPARE_SQL, RemoteWorld } from '../support/reference/remote-world.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'

const FILTERS = 100
const WORLDS = isLong ? longCount(200) : 20

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  t.setTimeout(timeoutMs)
  await server.run(PREPARE_SQL)
  for (const seed of seeds(WORLDS)) {
    t.test(`world ${seed}: every filter selects, orders and counts as the reference does`, async t => {
      if (hasFailedOften()) return t.comment('left out after earlier failures')
      const random = randomOf(seed)
      const remote = await RemoteWorld.open(t.testdir({}), server, random, seed % 2 === 1)
      try {
        await compareFilters(t, remote, random, seed, FILTERS)
      } finally {
        await remote.engine.close()
      }
    })
  }
}
