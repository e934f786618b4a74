/** Behaviour when the thread of the vector indexes ends unexpectedly, or works while the engine closes. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openEngine } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { engineOptions } from '../support/engine/engine-options.ts'
import { randomOf } from '../support/base/random.ts'
import { inTurn } from '../support/runner/rounds.ts'
import { referenceAnswer } from '../support/reference/vectors.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { insertRows } from '../support/servers/test-server.ts'
import { readItems } from '../support/engine/vector-items.ts'
import { modelOf, VectorSource } from './vectors.model.ts'

/** Narrow enough for an index. */
const VERY_NEAR = 0.1

/** An engine with 900 vectors and an index that is used whatever it costs. */
async function openStore(path: string) {
  const vectorIndex = { minRows: 500, recall: 0.5, always: true }
  const engine = await openEngine(
    engineOptions({ path, model: modelOf('euclidean'), memoryBytes: 2 ** 26, vectorIndex }),
  )
  engine.warmUp()
  const source = new VectorSource(randomOf(9))
  const rows = new Map(Array.from({ length: 900 }, (_, ID) => [ID, { ID, embedding: source.vector() }]))
  await insertRows(engine.saves, 'Item', [...rows.values()])
  return { engine, source, rows }
}

/** Opens the store, for two tests, and waits until the index is in use and in its file. */
async function open() {
  const path = temporaryFolder(t)
  const { engine, source, rows } = await openStore(path)
  t.teardown(() => engine.close())
  /** Asks for the nearest ten, or for the first ten among very near and far rows. */
  const ask = async (far?: number): Promise<{ isRight: boolean; usesIndex: boolean }> => {
    const nearest = { vector: source.vector(), metric: 'euclidean', threshold: null } as const
    const conditions = [
      { ...nearest, threshold: VERY_NEAR },
      { ...nearest, threshold: far! },
    ] as const
    const { keys, plan } = await readItems(engine, {
      filter: far === undefined ? 'embedding < :1' : 'embedding < :1 or embedding > :2',
      params: toParams(far === undefined ? [nearest] : conditions),
      orderBy: 'embedding',
      top: 10,
    })
    const expected =
      far === undefined
        ? referenceAnswer({ ...nearest, comparator: '<' }, rows)
        : [
            ...referenceAnswer({ ...conditions[0], comparator: '<' }, rows),
            ...referenceAnswer({ ...conditions[1], comparator: '>' }, rows),
          ]
    const isRight = keys.join() === expected.slice(0, 10).join()
    return { isRight, usesIndex: plan.includes('[index') }
  }
  // A thread that ends during the write of the file takes the process with it.
  const isSaved = () => readdirSync(path).some(name => /^vectors-.*-\d+\.json$/.test(name))
  while (!(await ask()).usesIndex || !isSaved()) await new Promise(resolve => setTimeout(resolve, 20))
  return { engine, ask }
}

const opened = open()

t.test('when the thread of the indexes ends, answers continue and the index is made again', async t => {
  const { engine, ask } = await opened
  const { vectors } = (engine as unknown as Inside).parts.tasks.options
  for (const _ of inTurn([1, 2, 3])) {
    const [thread] = vectors.piscina.threads
    // Waits until the thread is idle: ending it during work would end this process.
    await vectors.gate.close()
    await thread!.terminate()
    vectors.gate.words.fill(0)
    for (let i = 0; i < 10; i++) t.equal((await ask()).isRight, true, 'the answer is right')
    while (!(await ask()).usesIndex) await new Promise(resolve => setTimeout(resolve, 20))
    t.not(vectors.piscina.threads[0], thread)
  }
})

t.test('an engine can be closed while an index is made', async t => {
  const path = t.testdir({})
  for (const waitMs of inTurn([0, 6, 12, 18, 24, 30, 36, 42, 48, 54], 4)) {
    const { engine } = await openStore(join(path, `${waitMs}`))
    await delay(waitMs)
    // Ending the thread inside hnswlib-node ends this process.
    await engine.close()
  }
  t.pass('the engine has closed')
})

t.test('the index serves only the near rows of a query that also asks for far ones', async t => {
  const { ask } = await opened
  for (const far of [1, 2, 3, 4, 5, 6]) {
    const { isRight, usesIndex } = await ask(far)
    t.equal(isRight, true, `beyond ${far}`)
    t.equal(usesIndex, true, 'the index is used for the near rows')
  }
})

interface Inside {
  parts: {
    tasks: {
      options: {
        vectors: {
          piscina: { threads: { terminate(): Promise<unknown> }[] }
          gate: { words: Int32Array; close(): Promise<void> }
        }
      }
    }
  }
}
