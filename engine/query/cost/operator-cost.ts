import type { DataClass } from '../../catalog/dataclass.ts'
import type { Snapshot, TableSnapshot } from '../../storage/snapshot.ts'
import {
  COST_PER_DIMENSION,
  JSON_COST,
  jsonSelectivity,
  nullSelectivity,
  SELECTIVITY,
  rowsListed,
  scoreSelectivity,
  testCost,
  VALUES_PER_INDEX_HIT,
} from '../plan/lower.ts'
import type { Operator } from '../plan/physical-plan.ts'
import { costOfReading, MICROSECONDS } from './work.ts'

/** What an operator is expected to find and to take. */
export interface Expectation {
  readonly rows: number
  readonly microseconds: number
}

/**
 * Expects of an operator what `evaluate` would do with this many candidates. Indexes have counted their hits already;
 * where none did it is guesswork.
 */
export function expect(operator: Operator, dataClass: DataClass, candidates: number, snapshot: Snapshot): Expectation {
  const table = snapshot.table(dataClass)
  switch (operator.kind) {
    case 'All':
      return { rows: candidates, microseconds: 0 }
    case 'None':
      return { rows: 0, microseconds: 0 }
    case 'IndexScan': {
      const index = table.index(operator.attribute)!
      const listed = rowsListed(operator.lookup, operator.rows, table, index)
      if (candidates * VALUES_PER_INDEX_HIT < listed) return expect(operator.filter, dataClass, candidates, snapshot)
      const perHit = index.order ? MICROSECONDS.hitInMemory : MICROSECONDS.indexHit
      return { rows: Math.min(operator.rows, candidates), microseconds: listed * perHit }
    }
    case 'ColumnFilter': {
      const share = SELECTIVITY[operator.test.kind]
      return filtered(operator, operator.negated ? 1 - share : share, testCost(operator), candidates, table)
    }
    case 'NullFilter':
      return filtered(operator, nullSelectivity(operator), 1, candidates, table)
    case 'VectorFilter': {
      const { test, wanted } = operator
      if (wanted !== undefined) {
        return {
          rows: test ? Math.min(wanted, candidates) : candidates,
          microseconds: wanted * MICROSECONDS.indexedVector,
        }
      }
      const cost = operator.attribute.vector!.dimension * COST_PER_DIMENSION
      return filtered(operator, scoreSelectivity(operator.test), cost, candidates, table)
    }
    case 'JsonFilter':
      return filtered(operator, jsonSelectivity(operator.test), JSON_COST, candidates, table)
    case 'SemiJoin':
      return semiJoin(operator, candidates, snapshot)
    case 'ReverseSemiJoin':
      return reverseSemiJoin(operator, candidates, snapshot)
    case 'Intersect':
      return operator.inputs.reduce(
        (left, input) => add(expect(input, dataClass, left.rows, snapshot), left.microseconds + words(table)),
        { rows: candidates, microseconds: 0 },
      )
    case 'Union':
      return operator.inputs.reduce(
        (found, input) => {
          const more = expect(input, dataClass, candidates - found.rows, snapshot)
          return add({ ...more, rows: found.rows + more.rows }, found.microseconds + words(table))
        },
        { rows: 0, microseconds: 0 },
      )
    case 'Difference': {
      const left = expect(operator.left, dataClass, candidates, snapshot)
      const right = expect(operator.right, dataClass, left.rows, snapshot)
      return add({ ...right, rows: left.rows - right.rows }, left.microseconds + words(table))
    }
    case 'Complement': {
      const input = expect(operator.input, dataClass, candidates, snapshot)
      return add({ ...input, rows: candidates - input.rows }, words(table))
    }
  }
}

const add = ({ rows, microseconds }: Expectation, more: number): Expectation => ({
  rows,
  microseconds: microseconds + more,
})

/** Of a set operation. */
const words = (table: TableSnapshot): number => (table.rowIdLimit / 32) * MICROSECONDS.word

function filtered(
  { attribute }: Operator & { kind: 'ColumnFilter' | 'NullFilter' | 'VectorFilter' | 'JsonFilter' },
  selectivity: number,
  costPerValue: number,
  candidates: number,
  table: TableSnapshot,
): Expectation {
  const microseconds = costOfReading(table, attribute, candidates) + candidates * costPerValue * MICROSECONDS.value
  return { rows: candidates * selectivity, microseconds }
}

function semiJoin(
  { relation, input, matchesNull }: Operator & { kind: 'SemiJoin' },
  candidates: number,
  snapshot: Snapshot,
): Expectation {
  const table = snapshot.table(relation.dataClass)
  const target = snapshot.table(relation.target)
  const isSmall = candidates < target.live.size
  const targets = isSmall ? candidates : target.live.size
  const matches = expect(input, relation.target, targets, snapshot)
  const share = matches.rows / Math.max(1, targets)
  const reading = costOfReading(table, relation, candidates)
  const referencing = matches.rows * (1 + table.live.size / Math.max(1, target.live.size))
  const goesBack = !matchesNull && referencing * VALUES_PER_INDEX_HIT < candidates
  const joining = goesBack ? referencing * MICROSECONDS.indexHit : reading
  return { rows: candidates * share, microseconds: matches.microseconds + joining + (isSmall ? reading : 0) }
}

function reverseSemiJoin(
  { relation: { inverse }, input }: Operator & { kind: 'ReverseSemiJoin' },
  candidates: number,
  snapshot: Snapshot,
): Expectation {
  const many = snapshot.table(inverse.dataClass)
  const fanOut = many.live.size / Math.max(1, snapshot.table(inverse.target).live.size)
  const referring = candidates * (1 + fanOut)
  const isSmall = referring * VALUES_PER_INDEX_HIT < many.live.size
  const entities = isSmall ? candidates * fanOut : many.live.size
  const matches = expect(input, inverse.dataClass, entities, snapshot)
  const joining = costOfReading(many, inverse, matches.rows) + (isSmall ? referring * MICROSECONDS.indexHit : 0)
  return { rows: Math.min(candidates, matches.rows), microseconds: matches.microseconds + joining }
}
