import type { Value } from '../../catalog/value.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { RowInserts } from '../../data/kernels.ts'
import { PREFETCHED, type Snapshot, type TableSnapshot } from '../../data/snapshot.ts'
import { NO_ROW } from '../../row-format/row-layout.ts'
import type { RowView } from '../../row-format/row-view.ts'
import type { ByteWriter } from '../../answer/byte-writer.ts'
import { SerialiseErrors } from '../../answer/serialise-errors.ts'
import { referenceOf, referencingOf } from '../../data/reference-of.ts'
import { fetchPaths, relatedRows } from '../execute/open-source.ts'
import { inKeyOrder } from '../../data/key-order.ts'
import { type AnswerContext, startAnswer } from './answer.ts'
import type {
  CalculatedValue,
  EntityTemplate,
  Projection,
  RelatedEntitiesValue,
  RelatedEntityValue,
  RelatedValue,
  Template,
} from './projection.ts'
import { type Fragment, isUnsaved, type MemberPage, NULL, RowWriter, type WrittenRelated } from './row-writer.ts'

/** Rows that stay valid, with their row ids, also those of {@link unsavedId}. */
type Rows = Iterable<readonly [number, RowView]>

const NO_ROWS = new Uint32Array(0)
const NO_INSERTS: RowInserts = { bytes: new Uint8Array(0), ranges: new Uint32Array(0) }
/**
 * Maximum size of inserts; more leave too little room for the rows that are copied together. Affects speed only: `copyRows`
 * copies no row that does not fit into the scratch memory, and such a row is written separately, with the same bytes.
 */
const MAX_INSERT_BYTES = 128 * 1024
/** Number of rows between two calls of the budget. */
const ROWS_AT_ONCE = 1024
/** Number of 1→N related entities that are kept at once for each entity of a batch. */
const MEMBERS_PER_ROW = 4
const COMMA = 0x2c

/**
 * Writes the rows of one answer in batches.
 *
 * Related rows are written level by level: those of all rows of a level are collected and each is written once, in front of the
 * answer; each row that refers to it repeats the bytes. A level costs one read of each distinct row.
 *
 * An answer for a sink is written batch by batch, with only the related rows of the batch in front of it, so that memory does
 * not grow with the page. If the members of a 1→N relation are too many for a batch, they are written in batches of their own.
 */
export class BatchWriter implements WrittenRelated {
  fragments: Map<RelatedValue, Map<number, Fragment>> | undefined
  collections: Map<RelatedEntitiesValue, Map<number, MemberPage>> | undefined
  streamed: Set<RelatedEntitiesValue> | undefined
  /** Members that were looked up to determine the size of the batch. */
  private countedMembers: Map<RelatedEntitiesValue, Map<number, MemberPage>> | undefined
  /** Related rows of a batch: the range of all written bytes, and the ranges to insert into each row. */
  private inserts: { readonly ranges: Uint32Array; readonly start: number; readonly end: number } | undefined
  private keptBytes = 0

  private readonly isArray: boolean
  private readonly budget: AnswerContext['budget']
  /** Number of rows that are prepared at once; all of them if there is no sink. */
  readonly batchRows: number
  readonly rows: RowWriter

  private constructor(
    readonly out: ByteWriter,
    private readonly projection: Projection,
    private readonly snapshot: Snapshot,
    { budget, sink }: AnswerContext,
    /** The first related value of the entity, selected from all related ones. */
    private readonly selectedPage: MemberPage | undefined,
  ) {
    this.isArray = projection.form === 'array'
    this.budget = budget
    this.batchRows = sink?.batchRows ?? Number.POSITIVE_INFINITY
    this.rows = new RowWriter(out, projection, snapshot, budget, this)
  }

  /** Starts the answer of this thread. */
  static start(
    projection: Projection,
    snapshot: Snapshot,
    context: AnswerContext,
    selectedPage?: MemberPage,
  ): BatchWriter {
    return new BatchWriter(startAnswer(projection, context.sink), projection, snapshot, context, selectedPage)
  }

  /**
   * Writes the entities of a page, separated by commas. Entities that do not exist are `{"__STAMP":0}`.
   * @param head writes the bytes before the first entity
   */
  page(rowIds: Uint32Array, head: () => void): void {
    const { out } = this
    const template = this.projection.entity
    let end = 0
    do {
      const start = end
      end = this.batchEnd(template, rowIds, start)
      if (start > 0) out.closeAt(0)
      const batch = rowIds.subarray(start, end)
      const read = this.loadPage(template, batch)
      out.open()
      if (start === 0) head()
      else out.byte(COMMA)
      this.batch(template, batch, read)
    } while (end < rowIds.length)
  }

  private batch(template: EntityTemplate, rowIds: Uint32Array, read: ReturnType<BatchWriter['load']>): void {
    const { out, rows } = this
    for (let i = 0; i < rowIds.length; ) {
      if (i > 0) out.byte(COMMA)
      const copiedCount = this.copyEntities(template, rowIds.subarray(i, i + ROWS_AT_ONCE), i)
      i += copiedCount
      if (copiedCount > 0) continue
      const rowId = rowIds[i++]!
      const row = read(rowId)
      if (row) rows.entity(template, row, rowId)
      else rows.writeMissing(template)
    }
  }

  private get batchMembers(): number {
    return this.batchRows * MEMBERS_PER_ROW
  }

  /** End of the batch that begins at `start`. A row that has too many related rows for a batch is a batch of its own. */
  private batchEnd(template: EntityTemplate, rowIds: Uint32Array, start: number): number {
    if (template.related.length === 0) return rowIds.length
    this.keptBytes = 0
    const limit = Math.min(start + this.batchRows, rowIds.length)
    const values = template.related.filter(value => value.kind === 'relatedEntities')
    if (values.length === 0) return limit
    this.countedMembers = new Map(values.map(value => [value, new Map()]))
    for (const { relations } of values) fetchPaths(relations, rowIds.subarray(start, limit), this.snapshot)
    let count = 0
    for (let i = start; i < limit; i++) {
      this.budget?.step()
      for (const [value, pages] of this.countedMembers) {
        const members = this.membersOf(value, rowIds[i]!)
        pages.set(rowIds[i]!, members)
        count += members.rowIds.length
      }
      if (count > this.batchMembers) return Math.max(i, start + 1)
    }
    return limit
  }

  /**
   * Prepares the related rows that the template needs for these rows.
   * @param isDirect true if the rows are written into the answer itself, so that their members can be streamed into it
   * @returns a function that reads one of these rows, which is valid until the next call
   */
  load(template: Template, rowIds: Iterable<number>, isDirect = false): (rowId: number) => RowView | undefined {
    const table = this.snapshot.table(template.dataClass)
    table.fetch?.(rowIds)
    if (template.related.length === 0) return rowId => table.row(rowId)
    const rows = new Map<number, RowView>()
    const ids = Uint32Array.from(rowIds)
    for (let i = 0; i < ids.length; i++) {
      this.budget?.step()
      if (i % PREFETCHED === 0) table.prefetch?.(ids.subarray(i, i + PREFETCHED))
      const row = rows.has(ids[i]!) ? undefined : table.row(ids[i]!)
      if (row) rows.set(ids[i]!, this.keep(row))
    }
    this.prepare(template, rows, isDirect)
    return rowId => rows.get(rowId)
  }

  /** {@link load} for the rows of a page, which are copied together if possible. */
  private loadPage(template: EntityTemplate, rowIds: Uint32Array): (rowId: number) => RowView | undefined {
    if (template.related.length > 0 && this.prepareInserts(template, rowIds)) {
      const table = this.snapshot.table(template.dataClass)
      return rowId => table.row(rowId)
    }
    return this.load(template, rowIds, true)
  }

  /** Writes the bytes to insert into the entities of a batch. @returns false when the entities cannot be copied together */
  private prepareInserts({ dataClass, slices, inserts }: EntityTemplate, rowIds: Uint32Array): boolean {
    const table = this.snapshot.table(dataClass)
    if (!slices || this.isArray || !table.copyEntities) return false
    if (inserts.some(({ value }) => this.snapshot.table(value.of.dataClass).rowsOnly)) return false
    const ranges = new Uint32Array(2 * rowIds.length * inserts.length)
    const first = this.out.length
    for (const [n, { prefix, value }] of inserts.entries()) {
      const targets = table.references?.(rowIds, value.reference)
      if (!targets) return false
      const targetIds = new Set(targets)
      targetIds.delete(NO_ROW)
      const fragments = this.writeFragments(value.of, targetIds, prefix)
      this.out.copy(prefix)
      this.out.copy(NULL)
      const none = { start: this.out.length - NULL.length, end: this.out.length }
      for (let i = 0; i < targets.length; i++) {
        const { start, end } = fragments.get(targets[i]!) ?? none
        const at = 2 * (i * inserts.length + n)
        ranges[at] = start - prefix.length - first
        ranges[at + 1] = end - first
      }
      this.remember(value, fragments)
    }
    const end = this.out.length
    this.inserts = end - first <= MAX_INSERT_BYTES ? { ranges, start: first, end } : undefined
    return true
  }

  /** Prepares the related rows that the template needs for rows that have been read. */
  prepare(template: Template, rows: Rows, isDirect = false): void {
    for (const value of template.related) {
      if (value.kind === 'calculated') this.remember(value, this.writeCalculated(value, rows))
      else if (value.kind === 'relatedEntity')
        this.remember(value, this.writeFragments(value.of, this.referencedIds(value, rows)))
      else this.prepareMembers(value, rows, isDirect)
    }
  }

  /**
   * Copies as many entities of a batch as possible together, separated by commas.
   * @param rowIds row ids of the batch from position `first` on
   * @returns number of entities copied
   */
  private copyEntities({ dataClass, slices }: EntityTemplate, rowIds: Uint32Array, first: number): number {
    if (!slices || this.isArray) return 0
    this.budget?.examine(0)
    const table = this.snapshot.table(dataClass)
    if (slices.inserts === 0) return table.copyEntities?.(rowIds, slices, NO_INSERTS, this.out) ?? 0
    if (!this.inserts) return 0
    const { start, end, ranges } = this.inserts
    const inserts = {
      bytes: this.out.since(start).subarray(0, end - start),
      ranges: ranges.subarray(2 * first * slices.inserts),
    }
    return table.copyEntities!(rowIds, slices, inserts, this.out)
  }

  /** Writes entities batch by batch, separated by commas. Bytes in front of the answer are kept. */
  stream(template: EntityTemplate, rowIds: Uint32Array): void {
    const { out, rows, keptBytes } = this
    const front = out.close()
    for (let start = 0, end = 0; start < rowIds.length; start = end) {
      end = this.batchEnd(template, rowIds, start)
      const batch = rowIds.subarray(start, end)
      const read = this.load(template, batch, true)
      out.open()
      for (let i = 0; i < batch.length; i++) {
        if (start + i > 0) out.byte(COMMA)
        rows.entity(template, read(batch[i]!)!, batch[i]!)
      }
      out.closeAt(front)
    }
    this.keptBytes = keptBytes
    out.open()
  }

  private remember(value: RelatedValue, fragments: Map<number, Fragment>): void {
    this.fragments ??= new Map()
    this.fragments.set(value, fragments)
  }

  /** Writes each row once. @param prefix written in front of each row */
  private writeFragments(template: Template, rowIds: Set<number>, prefix?: Uint8Array): Map<number, Fragment> {
    const read = this.load(template, rowIds)
    const fragments = new Map<number, Fragment>()
    for (const rowId of rowIds) {
      const row = read(rowId)
      if (!row) continue
      if (prefix) this.out.copy(prefix)
      const start = this.out.length
      if (template.kind === 'entity') this.rows.entity(template, row, rowId)
      else this.rows.value(template.value, row, rowId)
      fragments.set(rowId, { start, end: this.out.length })
    }
    return fragments
  }

  private writeCalculated(value: CalculatedValue, rows: Rows): Map<number, Fragment> {
    const fragments = new Map<number, Fragment>()
    for (const [rowId, row] of rows) {
      const start = this.out.length
      this.rows.calculated(value, row, rowId)
      fragments.set(rowId, { start, end: this.out.length })
    }
    return fragments
  }

  private prepareMembers(value: RelatedEntitiesValue, rows: Rows, canStream: boolean): void {
    const countedPages = this.countedMembers?.get(value)
    const members = new Map<number, MemberPage>()
    const all = new Set<number>()
    const ids = Array.from(rows, ([rowId]) => rowId).filter(rowId => !isUnsaved(rowId))
    fetchPaths(value.relations, ids, this.snapshot)
    for (const [rowId] of rows) {
      this.budget?.step()
      const page = countedPages?.get(rowId) ?? this.membersOf(value, rowId)
      members.set(rowId, page)
      for (const member of page.rowIds) all.add(member)
    }
    this.collections ??= new Map()
    this.collections.set(value, members)
    if (canStream && all.size > this.batchMembers) {
      this.streamed ??= new Set()
      this.streamed.add(value)
    } else {
      this.streamed?.delete(value)
      this.remember(value, this.writeFragments(value.of, all))
    }
  }

  private membersOf(value: RelatedEntitiesValue, rowId: number): MemberPage {
    const { relations, skip, count } = value
    if (this.selectedPage && value === this.projection.entity.related[0]) return this.selectedPage
    if (isUnsaved(rowId)) return { count: 0, first: skip, rowIds: NO_ROWS }
    const [relation] = relations
    const members =
      relations.length === 1 && relation!.kind === 'relatedEntities'
        ? referencingOf(relation!.inverse, rowId, this.snapshot)
        : this.relatedIds(relations, rowId, this.snapshot.table(value.of.dataClass))
    return { count: members.length, first: skip, rowIds: members.slice(skip, skip + count) }
  }

  private relatedIds(relations: RelatedEntitiesValue['relations'], rowId: number, table: TableSnapshot): Uint32Array {
    const rows = relatedRows(relations, RowSet.fromIds([rowId]), this.snapshot)
    return table.rowsOnly ? inKeyOrder(rows, id => table.row(id)!.value(table.dataClass.key) as Value) : rows.toIds()
  }

  private referencedIds(value: RelatedEntityValue, rows: Rows): Set<number> {
    const rowIds = new Set<number>()
    for (const [, row] of rows) {
      const rowId = referenceOf(row, value.reference, this.snapshot)
      if (rowId !== undefined) rowIds.add(rowId)
    }
    return rowIds
  }

  /** Returns the row in a form that stays valid. The number of stable rows is limited by the budget only. */
  private keep(row: RowView): RowView {
    if (row.isStable) return row
    this.keptBytes += row.length
    if (this.keptBytes > this.projection.maxBytes) throw SerialiseErrors.ANSWER_TOO_LARGE(this.projection.maxBytes)
    return row.copy()
  }
}
