import type { RelationAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { isExact } from '../../data/reference-of.ts'
import { Suspended } from '../../data/suspended.ts'
import type { TableSnapshot } from '../../data/snapshot.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { Predicate } from '../bind/predicate.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import type { QueryBudget } from '../scan/query-budget.ts'
import { describeJoin } from './condition.ts'
import type { OperatorKind } from './operator.ts'

/**
 * Finds rows by their related entities, which are in a database. The database tests the condition; the keys that it finds are looked up in
 * the store.
 */
export interface RemoteJoin {
  readonly kind: 'RemoteJoin'
  readonly relation: RelationAttribute
  /** Condition on the related entities. */
  readonly predicate: Predicate
  /** True if rows without a related entity pass too, because the condition is true for null. */
  readonly matchesNull: boolean
}

const SHARE = 0.1

export const remoteJoin: OperatorKind<RemoteJoin> = {
  explain: ({ relation }) => ` ${relation.name}`,
  describe: ({ relation }, _, view) => describeJoin(relation, view),
  weigh: () => ({ share: SHARE, microseconds: MICROSECONDS.join }),
  // Infinite, so that another thread runs it.
  estimate: (_, candidates) => ({ rows: candidates * SHARE, microseconds: Number.POSITIVE_INFINITY }),
  evaluate({ relation, predicate, matchesNull }, candidates, { table, context }) {
    const { remote, budget } = context
    if (!remote) throw new Suspended({ kind: 'entities', dataClass: relation.target.name })
    if (relation.kind === 'relatedEntities') {
      const { key } = relation.inverse.target
      const rows = remote.valuesWhere(relation.inverse, predicate).flatMap(value => {
        const rowId = table.findKey(value)
        return rowId !== undefined && isExact(table, rowId, key, value) ? rowId : []
      })
      return RowSet.fromIds(rows).and(candidates)
    }
    const { foreignKey, target } = relation
    if (!matchesNull) return rowsWith(foreignKey, remote.keysWhere(target, predicate), table, budget).and(candidates)
    // Null and keys without an entity match too: only rows related to an entity for which the condition is not true are excluded.
    const otherValues = remote.keysWhere(target, { kind: 'complement', input: predicate })
    return candidates.minus(rowsWith(foreignKey, otherValues, table, budget))
  },
}

/** Rows with one of some values in an indexed attribute. */
function rowsWith(
  attribute: StorageAttribute,
  values: readonly Value[],
  table: TableSnapshot,
  budget: QueryBudget,
): RowSet {
  const index = table.index(attribute)!
  const rowIds: number[] = []
  for (const value of values) {
    const rows = index.equal(value)
    budget.examine(rows.size + 1)
    for (const rowId of rows) if (isExact(table, rowId, attribute, value)) rowIds.push(rowId)
  }
  return RowSet.fromIds(rowIds)
}
