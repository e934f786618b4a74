import type { VectorWorldPlan } from '../world/vector-world.ts'
import { copyVectorWorld, VectorWorld } from '../world/vector-world.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { PreparedVectors } from './prepared-vectors.ts'
import { differs, type EngineCase, engineCase, pageOf, readPage } from './engine-case.ts'

const PLAN: VectorWorldPlan = { rows: 100_000, dimension: 128, clusters: 1_000 }
const WRITERS = 64
const READERS = 2
/** Number of bodies prepared in advance: creating one takes as long as all the work of the kernel thread for it. */
const PREPARED = 10_000
/** Number of new vectors that are searched for at the end. */
const CHECKS = 50

/** Each writer waits for the disk, each reader for the nearest rows of a question. */
export const vectorInsert: EngineCase = engineCase({
  name: 'vector-insert-128',
  title: `a vector inserted by each of ${WRITERS}, while ${READERS} ask for the 100 nearest, 100 k × 128`,
  goals: { perSecond: 3_000 },
  prepare: async () => {
    await PreparedVectors.close(PLAN)
    const world = new VectorWorld(PLAN)
    const { engine, remove } = await copyVectorWorld(world)
    const nearest = (vector: Float32Array, top: number) =>
      readPage(engine, {
        dataClass: 'Item',
        filter: 'embedding > :1',
        params: toParams([{ vector: [...vector], threshold: null }]),
        top,
      })
    const bodyOf = (n: number) => Buffer.from(JSON.stringify(world.entity(PLAN.rows + n)))
    const bodies = Array.from({ length: PREPARED }, (_, n) => bodyOf(n))
    let insertedCount = 0
    let isOpen = true
    let askedCount = 0
    const ask = async (): Promise<void> => {
      while (isOpen) await nearest(world.question(askedCount++ % 200), 100)
    }
    const readers = Promise.all(Array.from({ length: READERS }, ask))
    return {
      units: 1,
      unit: 'rows',
      atOnce: WRITERS,
      run: () => {
        const body = bodies[insertedCount] ?? bodyOf(insertedCount)
        insertedCount++
        return engine.saves.write({
          kind: 'save',
          dataClass: 'Item',
          body,
          mode: 'update',
          atomic: false,
          trusted: true,
        })
      },
      problemOf: () => undefined,
      afterwards: async () => {
        isOpen = false
        await readers
        const { count } = pageOf(await nearest(world.question(0), 1))
        const problem = differs('the count', count, PLAN.rows + insertedCount)
        if (problem) return problem
        for (let i = 0; i < CHECKS; i++) {
          const row = PLAN.rows + Math.floor((i * insertedCount) / CHECKS)
          const { keys } = pageOf(await nearest(world.vector(row), 1))
          if (keys[0] !== row) return differs('the nearest of a new vector', keys[0], row)
        }
        return askedCount === 0 ? 'no question was answered meanwhile' : undefined
      },
      remark: () => `${askedCount} answers meanwhile`,
      close: async () => {
        isOpen = false
        await readers
        await engine.close()
        remove()
      },
    }
  },
})
