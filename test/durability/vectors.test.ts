/**
 * However vectors are inserted, updated and deleted, and however often the server is stopped or killed and the files of its
 * indexes are damaged meanwhile: every acknowledged vector is stored, and answers are those of a simple model. Exact queries are
 * answered exactly; an index may miss a few rows, but never finds a wrong one.
 */
import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { isLong, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { writeFiles } from './vectors.model.ts'
import { Run } from './vectors.run.ts'

const STEPS = isLong ? 250 : 20

/** Minimum recall of all searches by indexes in a run. */
const LEAST_RECALL = 0.95
const STORAGES = [{ memoryBytes: '64 MiB' }, { memoryBytes: 0, cacheBytes: '4 MiB' }]

t.setTimeout(timeoutMs)
for (const seed of seeds(isLong ? 6 : 1)) {
  const metric = (['cosine', 'dot', 'euclidean'] as const)[seed % 3]!
  t.test(`world ${seed}, ${metric}: every answer is right`, async t => {
    const folder = t.testdir({})
    writeFiles(folder, metric, STORAGES[seed % 2])
    const run = new Run(randomOf(seed), folder, metric)
    await run.start()
    for (let step = 0; step < STEPS; step++) {
      const difference = await run.step().catch((error: Error) => error.stack)
      if (difference === undefined) continue
      await run.server.kill()
      t.fail(`seed ${seed}, step ${step}: ${difference}\n${run.server.output}`)
      return
    }
    t.equal(await run.settle(), undefined)
    await run.server.stop()
    t.ok(run.recall >= LEAST_RECALL, `recall ${run.recall} of ${run.expected}`)
  })
}
