/**
 * Entities are sent as the reference projection builds them: random attribute lists, expansions and forms over
 * random worlds. The order of properties is compared, too.
 */
import t from 'tap'
import { LiveWorld } from '../support/reference/live-world.ts'
import { compareProjections } from '../support/reference/projection-rounds.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'

const WORLDS = isLong ? longCount(30) : 4
const READS_PER_ROUND = isLong ? 100 : 60

t.setTimeout(timeoutMs)
for (const seed of seeds(WORLDS)) {
  t.test(`world ${seed}: every answer has the shape and the values of the reference`, async t => {
    const random = randomOf(seed)
    const live = await LiveWorld.open(t.testdir({}), random, 25)
    try {
      await compareProjections(t, live, random, seed, READS_PER_ROUND)
      await live.change(random, 15)
      if (random.chance(0.3)) await live.reopen()
      await compareProjections(t, live, random, seed, READS_PER_ROUND)
    } finally {
      await live.engine.close()
    }
  })
}
