import { COUNT, ownCounts, type ThreadCounts } from '../base/counts/thread-counts.ts'
import type { RowSet } from '../row-set/row-set.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RowView } from '../row-format/row-view.ts'
import { SegmentBuilder, type SizedSegment } from './segment-builder.ts'
import { type ColumnAttribute, SEGMENT_ROWS, SEGMENT_WORDS, type Segment } from '../data/snapshot.ts'

/** Table of the open snapshot from which segments are built. */
interface SegmentSource {
  readonly layout: RowLayout
  readonly live: RowSet
  row(rowId: number): RowView | undefined
}

/** The segments of a table's columns that cover the same rows. They are evicted and patched together. */
interface SegmentGroup {
  readonly segments: Map<ColumnAttribute, SizedSegment>
  /** Entries whose rows changed since the segments were built. */
  readonly stale: Set<number>
}

/**
 * Column segments of a thread, least recently used ones evicted to stay within a budget of bytes.
 *
 * A commit only notes which rows changed; the next query that reads a segment copies it with those rows decoded again. Neither
 * writes nor requests that read no columns pay for columns. With a budget of 0, a segment lives as long as the query holds it.
 */
export class ColumnCache {
  /** In order of use, oldest first. */
  private readonly groups = new Map<number, SegmentGroup>()
  private bytes = 0

  /** @param counts counters of the thread, for hits and misses */
  constructor(
    private readonly maxBytes: number,
    private readonly counts: ThreadCounts = ownCounts(),
  ) {}

  get isEmpty(): boolean {
    return this.groups.size === 0
  }

  /** @param together other columns that the query reads; they are built from the same rows while there is room */
  segment(
    source: SegmentSource,
    attribute: ColumnAttribute,
    index: number,
    together: Iterable<ColumnAttribute>,
  ): Segment {
    const key = groupKey(attribute.dataClass.tableNumber, index)
    const group = this.groups.get(key) ?? { segments: new Map(), stale: new Set() }
    this.groups.delete(key)
    this.groups.set(key, group)
    if (group.stale.size > 0) this.patch(source, index, group)
    let sizedSegment = group.segments.get(attribute)
    this.counts[sizedSegment ? COUNT.columnHits : COUNT.columnMisses]!++
    if (!sizedSegment) {
      const otherAttributes =
        this.bytes < this.maxBytes ? [...together].filter(other => !group.segments.has(other)) : []
      this.add(group, build(source, index, new Set([attribute, ...otherAttributes])))
      sizedSegment = group.segments.get(attribute)!
    }
    this.evict()
    return sizedSegment.segment
  }

  /** Number of rows that {@link segment} would have to read for the first `count` segments; stops counting above `limit`. */
  rowsToDecode(attribute: ColumnAttribute, count: number, limit: number): number {
    let rows = 0
    for (let index = 0; index < count && rows <= limit; index++) {
      const group = this.groups.get(groupKey(attribute.dataClass.tableNumber, index))
      rows += group?.segments.has(attribute) ? group.stale.size : SEGMENT_ROWS
    }
    return rows
  }

  /** To be called for every row that a commit inserted, changed or deleted. */
  rowChanged(tableNumber: number, rowId: number): void {
    const key = groupKey(tableNumber, Math.floor(rowId / SEGMENT_ROWS))
    const group = this.groups.get(key)
    if (!group) return
    group.stale.add(rowId % SEGMENT_ROWS)
    if (group.stale.size > MAX_STALE) this.drop(key, group)
  }

  /** Drops a segment of all columns. */
  forget(tableNumber: number, index: number): void {
    const key = groupKey(tableNumber, index)
    const group = this.groups.get(key)
    if (group) this.drop(key, group)
  }

  clear(): void {
    this.groups.clear()
    this.bytes = 0
  }

  private patch(source: SegmentSource, index: number, group: SegmentGroup): void {
    const builders = [...group.segments].map(([attribute, previous]) => ({
      attribute,
      builder: new SegmentBuilder(source.layout, attribute, previous),
    }))
    for (const entry of group.stale) {
      const row = source.row(index * SEGMENT_ROWS + entry)
      for (const { builder } of builders) builder.put(entry, row)
    }
    group.stale.clear()
    this.add(group, new Map(builders.map(({ attribute, builder }) => [attribute, builder.finish()])))
  }

  private add(group: SegmentGroup, segments: Map<ColumnAttribute, SizedSegment>): void {
    for (const [attribute, segment] of segments) {
      this.bytes += segment.bytes - (group.segments.get(attribute)?.bytes ?? 0)
      group.segments.set(attribute, segment)
    }
  }

  private evict(): void {
    for (const [key, group] of this.groups) {
      if (this.bytes <= this.maxBytes) return
      this.drop(key, group)
    }
  }

  private drop(key: number, group: SegmentGroup): void {
    for (const { bytes } of group.segments.values()) this.bytes -= bytes
    this.groups.delete(key)
  }
}

/** Number of changed rows above which reading the whole segment again costs about the same. */
const MAX_STALE = SEGMENT_ROWS / 4

/** Row ids have 32 bits, so there are at most 2^20 segments. */
const groupKey = (tableNumber: number, index: number): number => tableNumber * 2 ** 20 + index

function build(
  source: SegmentSource,
  index: number,
  attributes: Set<ColumnAttribute>,
): Map<ColumnAttribute, SizedSegment> {
  const builders = [...attributes].map(attribute => new SegmentBuilder(source.layout, attribute))
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = source.live.word(index * SEGMENT_WORDS + word); bits !== 0; bits &= bits - 1) {
      const entry = word * 32 + (31 - Math.clz32(bits & -bits))
      const row = source.row(index * SEGMENT_ROWS + entry)
      for (const builder of builders) builder.put(entry, row)
    }
  }
  return new Map([...attributes].map((attribute, i) => [attribute, builders[i]!.finish()]))
}
