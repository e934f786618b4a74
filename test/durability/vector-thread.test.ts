/** The thread that has the indexes of vectors ends by itself. */
import t from 'tap'
import { openEngine, parsePathList } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { randomOf } from '../support/reference/random.ts'
import { referenceAnswer } from '../support/reference/vectors.ts'
import { insertRows } from '../support/test-server.ts'
import { modelOf, VectorSource } from './vectors.model.ts'

t.test('when the thread of the indexes ends, answers go on and the index comes back', async t => {
  const engine = await openEngine({
    path: t.testdir({}),
    model: modelOf('euclidean'),
    wire: { dateOnlyFormat: 'iso' },
    allowLoss: false,
    mapSizeBytes: 2 ** 28,
    cacheBytes: 2 ** 24,
    memoryBytes: 2 ** 26,
    limits: { timeoutMs: 60_000, maxRowsExamined: 1e9, maxExpandDepth: 8, maxAnswerBytes: 2 ** 28 },
    writeQueueBytes: 2 ** 28,
    vectorIndex: { minRows: 500, recall: 0.5, always: true },
  })
  t.teardown(() => engine.close())
  engine.warmUp()
  const source = new VectorSource(randomOf(9))
  const rows = new Map(Array.from({ length: 900 }, (_, ID) => [ID, { ID, embedding: source.vector() }]))
  await insertRows(engine, 'Item', [...rows.values()])

  const ask = async (): Promise<{ isRight: boolean; usesIndex: boolean }> => {
    const nearest = { vector: source.vector(), metric: 'euclidean', threshold: null } as const
    const bytes = await engine.read({
      dataClass: 'Item',
      source: { kind: 'all' },
      filter: 'embedding < :1',
      params: toParams([nearest]),
      skip: 0,
      top: 10,
      output: {
        form: 'collection',
        attributes: { from: 'path', items: parsePathList('ID') },
        describe: { plan: true },
      },
    })
    const { __ENTITIES, __queryPlan } = JSON.parse(Buffer.from(bytes).toString())
    const found = __ENTITIES.map(({ ID }: { ID: number }) => ID).join()
    const isRight =
      found ===
      referenceAnswer({ ...nearest, comparator: '<' }, rows)
        .slice(0, 10)
        .join()
    return { isRight, usesIndex: JSON.stringify(__queryPlan).includes('[index') }
  }
  const untilIndexed = async (): Promise<void> => {
    while (!(await ask()).usesIndex) await new Promise(resolve => setTimeout(resolve, 20))
  }
  await untilIndexed()

  const { vectors } = (engine as unknown as Inside).tasks.options
  for (let round = 0; round < 3; round++) {
    const [thread] = vectors.piscina.threads
    await thread!.terminate()
    for (let i = 0; i < 10; i++) t.equal((await ask()).isRight, true, 'the answer is right')
    await untilIndexed()
    t.not(vectors.piscina.threads[0], thread)
  }
})

interface Inside {
  tasks: { options: { vectors: { piscina: { threads: { terminate(): Promise<unknown> }[] } } } }
}
