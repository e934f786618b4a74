import type { RelatedEntityAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { ReferenceCollector } from '../../simd/segment-kernels.ts'
import { visibleOf } from '../../storage/restricted-snapshot.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type TableSnapshot } from '../../storage/snapshot.ts'
import { VALUES_PER_INDEX_HIT } from '../plan/lower.ts'
import type { Operator } from '../plan/physical-plan.ts'
import { cellReader, readsSegments } from './cell-reader.ts'
import { evaluate, type QueryContext, within } from './evaluate.ts'
import { filterColumn } from './filter-column.ts'
import type { NumberSegment } from './segment-summary.ts'
import type { QueryBudget } from './query-budget.ts'

/*
 * Relations are semi-joins of row sets. The column of a N→1 relation holds the row id of the related entity, so a join
 * is a look at that column. Where one side is small it goes the other way round: from few related entities over the index
 * to the rows that refer to them, or from few candidates to just their related entities.
 */

/** Candidates whose related entity passes `input`, and with `matchesNull` those that have none. */
export function semiJoin(
  { relation, input, matchesNull }: Operator & { kind: 'SemiJoin' },
  candidates: RowSet,
  context: QueryContext,
): RowSet {
  const table = context.snapshot.table(relation.dataClass)
  const target = context.snapshot.table(relation.target)
  const isSmall = candidates.size < target.live.size
  const targets = isSmall ? visibleOf(related(table, relation, candidates, context), target) : target.live
  const matches = evaluate(input, relation.target, targets, context)
  if (!matchesNull && costOfReferencing(matches.size, table, target) < candidates.size) {
    return within(referencing(table, relation, matches, context.budget), candidates, table)
  }
  const test = { whenNull: matchesNull, matches: (rowId: unknown) => matches.has(rowId as number), rows: matches }
  return filterColumn(table, relation, candidates, test, context.budget)
}

/** Candidates that at least one entity passing `input` refers to. */
export function reverseSemiJoin(
  { relation: { inverse }, input }: Operator & { kind: 'ReverseSemiJoin' },
  candidates: RowSet,
  context: QueryContext,
): RowSet {
  const many = context.snapshot.table(inverse.dataClass)
  const one = context.snapshot.table(inverse.target)
  const isSmall = costOfReferencing(candidates.size, many, one) < many.live.size
  const entities = isSmall ? referencing(many, inverse, candidates, context.budget) : many.live
  const matches = evaluate(input, inverse.dataClass, entities, context)
  return related(many, inverse, matches, context).and(candidates)
}

/** In values of a column: a step in the index for each target and for each row that refers to it. */
const costOfReferencing = (targetCount: number, many: TableSnapshot, one: TableSnapshot): number =>
  targetCount * (1 + many.live.size / Math.max(1, one.live.size)) * VALUES_PER_INDEX_HIT

/** Rows of `table` that refer to one of the targets. */
function referencing(
  table: TableSnapshot,
  relation: RelatedEntityAttribute,
  targets: RowSet,
  budget: QueryBudget,
): RowSet {
  const found: Uint32Array[] = []
  for (const target of targets) {
    const rowIds = table.referencing(relation, target)
    budget.examine(rowIds.length)
    found.push(rowIds)
  }
  return RowSet.fromIds(concat(found))
}

/** Row ids of the entities that these rows refer to. */
function related(
  table: TableSnapshot,
  relation: RelatedEntityAttribute,
  rows: RowSet,
  { snapshot, budget }: QueryContext,
): RowSet {
  // A bitmap and not a list: most rows refer to entities that others refer to as well.
  const words = new Uint32Array((snapshot.table(relation.target).rowIdLimit + 31) >>> 5)
  const add = (target: number) => {
    words[target >>> 5]! |= 1 << (target & 31)
  }
  if (!readsSegments(table, rows.size)) {
    const read = cellReader(table, relation, rows.size)
    const ids = rows.toIds()
    for (let i = 0; i < ids.length; i++) {
      if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, ids.length - i))
      const target = read(ids[i]!) as number | undefined
      if (target !== undefined) add(target)
    }
    return RowSet.fromWords(words)
  }
  const column = table.column(relation)
  let collector: ReferenceCollector | undefined
  rows.forEachBlock(SEGMENT_WORDS, (index, bits) => {
    budget.examine(SEGMENT_ROWS)
    const { present, values, page } = column.segment(index) as NumberSegment
    collector ??= page?.kernels.collector(words.length)
    if (collector) return collector.add(page!.address, bits)
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      for (let rest = bits[word]! & present[word]!; rest !== 0; rest &= rest - 1) {
        add(values[word * 32 + (31 - Math.clz32(rest & -rest))]!)
      }
    }
  })
  return RowSet.fromWords(collector?.bitmap() ?? words)
}

function concat(arrays: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(arrays.reduce((length, array) => length + array.length, 0))
  let length = 0
  for (const array of arrays) {
    all.set(array, length)
    length += array.length
  }
  return all
}
