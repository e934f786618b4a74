import t from 'tap'
import { givenSeed, isLong, seedOf, seeds, seedsInUse } from '../../support/runner/rounds.ts'

t.test('a usual run uses the same seeds every time', async t => {
  process.stderr.write(`tests run with ${seedsInUse}\n`)
  if (givenSeed !== undefined) t.strictSame(seeds(3), [givenSeed])
  else if (!isLong) t.strictSame([seedOf(), seedOf(7), ...seeds(2)], [20_200_229, 7, 20_200_229, 20_200_230])
  t.match(seedsInUse, String(seedOf()))
})
