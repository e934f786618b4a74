import type { Engine } from '../../../engine/index.ts'
import type { ReadRequest } from '../../../engine/query/contract/request.ts'
import { readJson, readRequest } from './read-request.ts'
import type { VectorQuestion } from '../reference/vectors.ts'

export type Metric = VectorQuestion['metric']

/** Items with one vector each. */
export const vectorModel = (embedding: { dimension: number; metric?: Metric; hnsw?: object }) => ({
  name: 'vectors',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        group: { type: 'long' },
        embedding: { type: 'vector', ...embedding },
      },
    },
  },
})

export interface FoundItems {
  /** Keys of a page. */
  readonly keys: number[]
  /** Number of all matches. */
  readonly count: number
  readonly plan: string
}

export async function readItems(engine: Engine, part: Partial<ReadRequest>): Promise<FoundItems> {
  const request = readRequest('Item', 'ID', part)
  const described = { ...request, output: { ...request.output, describe: { plan: true } } }
  const { __ENTITIES, __COUNT, __queryPlan } = await readJson(engine, described)
  const keys = __ENTITIES.map(({ ID }: { ID: number }) => ID)
  return { keys, count: __COUNT, plan: JSON.stringify(__queryPlan) }
}
