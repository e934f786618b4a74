/** A sample that resembles few other rows makes a search by sketches examine too few or too many, which it has to notice. */
import t from 'tap'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { openTestEngine } from '../support/engine/test-engine.ts'
import { randomOf } from '../support/base/random.ts'
import { referenceAnswer } from '../support/reference/vectors.ts'
import { insertRows } from '../support/servers/test-server.ts'
import { readItems, vectorModel } from '../support/engine/vector-items.ts'
import { inTurn, seedOf } from '../support/runner/rounds.ts'

const ROWS = 20_000
const DIMENSION = 384
/** A sample of this many rows takes every `STEP`th block of 32 rows. */
const STEP = 9
const NEAREST = 60

for (const isSampleNear of inTurn([true, false])) {
  t.test(`the nearest are found when ${isSampleNear ? 'only' : 'none of'} the sample is near`, async t => {
    const random = randomOf(seedOf(5))
    const number = () => random.integer(-1000, 1000) / 1000
    const question = Array.from({ length: DIMENSION }, number)
    const rows = new Map(
      Array.from({ length: ROWS }, (_, ID) => {
        const isSampled = Math.floor(ID / 32) % STEP === 0
        const nearness = isSampled === isSampleNear ? 0.4 : 0
        return [ID, { ID, group: 0, embedding: question.map(each => nearness * each + number()) }]
      }),
    )
    const engine = await openTestEngine(t, {
      model: vectorModel({ dimension: DIMENSION, hnsw: {} }),
      memoryBytes: 2 ** 27,
      vectorIndex: { minRows: 1e9, recall: 0.99 },
    })
    await insertRows(engine.saves, 'Item', [...rows.values()])
    await engine.parts.writer.memoryFilled
    const nearest = { vector: question, metric: 'cosine', threshold: null } as const
    const { keys, plan } = await readItems(engine, {
      filter: 'embedding > :1',
      params: toParams([nearest]),
      orderBy: 'embedding desc',
      top: NEAREST,
    })
    t.match(plan, 'sketch')
    const expected = referenceAnswer({ ...nearest, comparator: '>' }, rows).slice(0, NEAREST)
    const found = expected.filter(key => keys.includes(key)).length
    t.ok(found >= 0.97 * NEAREST, `${found} of ${NEAREST}`)
    t.equal(keys.length, NEAREST)
  })
}
