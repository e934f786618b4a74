import type { RelatedEntityAttribute } from '../../catalog/attribute.ts'
import type { ReferenceCollector } from '../../data/kernels.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type TableSnapshot } from '../../data/snapshot.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { cellReader, readsSegments } from '../scan/cell-reader.ts'
import type { QueryBudget } from '../scan/query-budget.ts'
import type { NumberSegment } from '../scan/segment-summary.ts'
import type { PlannedTable } from './operator.ts'
import type { QueryContext } from './query-context.ts'

/*
 * Relations are semi-joins of row sets. The column of a N→1 relation holds the row id of the related entity, so a join reads
 * that column. If one side is small, the join starts there: from few related entities through the index to the rows that refer
 * to them, or from few candidates to just their related entities.
 */

/** Average number of entities of `many` for each entity of `one`. */
export const fanOut = (many: Pick<PlannedTable, 'live'>, one: Pick<PlannedTable, 'live'>): number =>
  many.live.size / Math.max(1, one.live.size)

/** Number of index entries to read for this many targets: one for each target, and one for each row that refers to it. */
export const entriesOf = (targets: number, many: TableSnapshot, one: TableSnapshot): number =>
  targets * (1 + fanOut(many, one))

/** Found rows that are candidates. Rows found by an index exist, so none has to be removed if all rows are candidates. */
export const within = (rows: RowSet, candidates: RowSet, table: TableSnapshot): RowSet =>
  candidates === table.live ? rows : rows.and(candidates)

/** Rows of `table` that refer to one of the targets. */
export function referencing(
  table: TableSnapshot,
  relation: RelatedEntityAttribute,
  targets: RowSet,
  budget: QueryBudget,
): RowSet {
  const lists: Uint32Array[] = []
  for (const target of targets) {
    const rowIds = table.referencing(relation, target)
    budget.examine(rowIds.length)
    lists.push(rowIds)
  }
  return RowSet.fromIds(concat(lists))
}

/** Row ids of the entities that these rows refer to. */
export function targetsOf(
  table: TableSnapshot,
  relation: RelatedEntityAttribute,
  rows: RowSet,
  { snapshot, budget }: QueryContext,
): RowSet {
  // A bitmap instead of a list, because most rows refer to the same entities as other rows.
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
    const { presence: present, values, page } = column.segment(index) as NumberSegment
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
