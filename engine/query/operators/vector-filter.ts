import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { ScoreTest, Similarity } from '../../vector/math/similarity.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { shareOfScore } from '../estimate/selectivity.ts'
import { writeScoreTest } from '../plan/nodes/write-tests.ts'
import { filterVectors } from '../scan/filter-vectors.ts'
import { conditionKind } from './condition.ts'
import { filterByIndex } from './index-search.ts'
import type { OperatorKind } from './operator.ts'

/** Finds rows with a vector whose score passes; without a test, all rows that have a score. */
export interface VectorFilter {
  readonly kind: 'VectorFilter'
  readonly attribute: StorageAttribute
  readonly similarity: Similarity
  readonly test: ScoreTest | undefined
  /**
   * Way to find the rows that pass, or the first rows of the order. If they are few, sketches find most of them before a scan,
   * and an index finds most of them without any scan.
   */
  readonly access: 'scan' | 'sketch' | 'index'
  /** Set for an index: number of nearest rows in its first search. */
  readonly wanted?: number
}

const scan = conditionKind<VectorFilter>({
  condition: ({ access, ...filter }) => ` ${writeScoreTest(filter)}${access === 'sketch' ? ' (sketch)' : ''}`,
  share: ({ test }) => shareOfScore(test),
  microseconds: ({ attribute }) => attribute.vector!.dimension * MICROSECONDS.dimension,
  isIndexed: ({ access }) => access === 'index',
  evaluate(operator, candidates, { table, context }) {
    const hits = operator.access === 'index' && operator.test && filterByIndex(operator, table, candidates, context)
    const isSketched = operator.access === 'sketch'
    return hits || filterVectors({ ...operator, isSketched }, table, candidates, context.budget)
  },
})

export const vectorFilter: OperatorKind<VectorFilter> = {
  ...scan,
  explain: operator => `${scan.explain!(operator)}${operator.access === 'index' ? ' (index)' : ''}`,
  estimate(operator, candidates, scope) {
    const { test, wanted } = operator
    if (wanted === undefined) return scan.estimate(operator, candidates, scope)
    return {
      rows: test ? Math.min(wanted, candidates) : candidates,
      microseconds: wanted * MICROSECONDS.indexedVector,
    }
  },
}
