import { NO_ROW } from '../../storage/row-layout.ts'
import type { RowInserts } from '../../simd/segment-kernels.ts'
import type { RowView } from '../../storage/row-view.ts'
import { PREFETCHED, type Snapshot } from '../../storage/snapshot.ts'
import { calculatedText } from '../calculated-code.ts'
import type { QueryBudget } from '../execute/query-budget.ts'
import type { ByteWriter } from './byte-writer.ts'
import { vectorReader } from '../../vector/read-vectors.ts'
import { scoreOf } from '../../vector/similarity.ts'
import type {
  CalculatedValue,
  EntityTemplate,
  Projection,
  PropertyTree,
  RelatedEntitiesValue,
  RelatedEntityValue,
  RelatedValue,
  ScoreValue,
  Template,
  ValueSource,
} from './projection.ts'
import { SerialiseErrors } from './serialise-errors.ts'

/** Where the bytes of a related row have been written. */
interface Fragment {
  start: number
  end: number
}

/** Entities that point to one entity: how many there are, and the rows of them that are sent. */
interface Members {
  count: number
  rowIds: Uint32Array
}

/** Rows that stay valid, with their row ids; {@link NOT_STORED} for one that has none yet. */
type Rows = Iterable<readonly [number, RowView]>

/** Stands for the row id of an entity that is not in the store. */
export const NOT_STORED = -1

const NO_ROWS = new Uint32Array(0)
const NO_INSERTS: RowInserts = { bytes: new Uint8Array(0), ranges: new Uint32Array(0) }
/** More of them leave too little room where rows are copied together. */
const MAX_INSERT_BYTES = 128 * 1024
const bytes = (text: string): Uint8Array => Buffer.from(text)
const OPEN = 0x7b
const CLOSE = 0x7d
const COMMA = 0x2c
const COLON = 0x3a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const NULL = bytes('null')
const KEY = bytes('"__KEY":"')
const STAMP = bytes(',"__STAMP":')
const DEFERRED_URI = bytes('{"__deferred":{"uri":')

/**
 * Writes rows by their templates, for one answer.
 *
 * Related rows go level by level: those of all rows of a level are collected and each is written once, in front of the
 * answer; whoever refers to it repeats the bytes. The cost of a level is a read of each distinct row.
 */
export class RowWriter {
  /** By row id, for each value that shows related rows. Most answers have none. */
  private fragments: Map<RelatedValue, Map<number, Fragment>> | undefined
  private collections: Map<RelatedEntitiesValue, Map<number, Members>> | undefined
  /** Of a page: where they have been written, and which of them each row has. */
  private inserts: { readonly ranges: Uint32Array; readonly start: number; readonly end: number } | undefined
  private keptBytes = 0

  /** Of the one attribute that a score is asked of. */
  private readVector: ReturnType<typeof vectorReader> | undefined

  /** Entities as `$asArray` shows them. */
  private readonly isArray: boolean

  constructor(
    readonly out: ByteWriter,
    readonly projection: Projection,
    private readonly snapshot: Snapshot,
    private readonly budget?: QueryBudget,
  ) {
    this.isArray = projection.form === 'array'
  }

  /**
   * Makes ready what the template needs for these rows.
   * @returns reads a row of them; it is valid until the next one is read
   */
  load(template: Template, rowIds: Iterable<number>): (rowId: number) => RowView | undefined {
    const table = this.snapshot.table(template.dataClass)
    if (template.related.length === 0) return rowId => table.row(rowId)
    const rows = new Map<number, RowView>()
    const ids = Uint32Array.from(rowIds)
    for (let i = 0; i < ids.length; i++) {
      this.budget?.step()
      if (i % PREFETCHED === 0) table.prefetch?.(ids.subarray(i, i + PREFETCHED))
      const row = rows.has(ids[i]!) ? undefined : table.row(ids[i]!)
      if (row) rows.set(ids[i]!, this.keep(row))
    }
    this.prepare(template, rows)
    return rowId => rows.get(rowId)
  }

  /** The same for rows of which all is going to be copied together, as far as it can be. */
  loadPage(template: EntityTemplate, rowIds: Uint32Array): (rowId: number) => RowView | undefined {
    if (template.related.length > 0 && this.prepareInserts(template, rowIds)) {
      const table = this.snapshot.table(template.dataClass)
      return rowId => table.row(rowId)
    }
    return this.load(template, rowIds)
  }

  /** Writes what is inserted into the entities of a page. @returns false when they cannot be copied together */
  private prepareInserts({ dataClass, slices, inserts }: EntityTemplate, rowIds: Uint32Array): boolean {
    const table = this.snapshot.table(dataClass)
    if (!slices || this.isArray || !table.copyEntities) return false
    const ranges = new Uint32Array(2 * rowIds.length * inserts.length)
    const first = this.out.length
    for (const [n, { prefix, value }] of inserts.entries()) {
      const targets = table.references?.(rowIds, value.reference)
      if (!targets) return false
      const related = new Set(targets)
      related.delete(NO_ROW)
      const fragments = this.writeFragments(value.of, related, prefix)
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
    if (end - first <= MAX_INSERT_BYTES) this.inserts = { ranges, start: first, end }
    return true
  }

  /** The same for rows at hand, with their row ids. */
  prepare(template: Template, rows: Rows): void {
    for (const value of template.related) {
      if (value.kind === 'calculated') {
        this.remember(value, this.writeCalculated(value, rows))
        continue
      }
      const rowIds = value.kind === 'relatedEntity' ? referenced(value, rows) : this.collectMembers(value, rows)
      this.remember(value, this.writeFragments(value.of, rowIds))
    }
  }

  /**
   * As many of the entities of a page as can be copied together, with commas between.
   * @param rowIds of the page, from its `first` on
   * @returns their number
   */
  copyEntities({ dataClass, slices }: EntityTemplate, rowIds: Uint32Array, first: number): number {
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

  /** An entity with its braces, as it stands in lists and inside others. */
  entity(template: EntityTemplate, row: RowView, rowId: number): void {
    this.budget?.step()
    this.out.byte(OPEN)
    if (this.isArray) {
      this.key(row)
      this.out.copy(row.bytes, stampStart(row), row.slotStart(template.headSlots))
      this.parts(template, row, rowId)
    } else this.members(template, row, rowId)
    if (this.isArray) this.out.ascii(`,"__GlobalStamp":${row.globalStamp}`)
    this.out.byte(CLOSE)
  }

  /** `"__KEY":"1"` */
  key(row: RowView): void {
    this.out.copy(row.bytes, row.headStart, keyEnd(row))
  }

  /** `,"__STAMP":1` */
  stamp(row: RowView): void {
    this.out.copy(row.bytes, stampStart(row), row.slotStart(0))
  }

  /** `,"__TIMESTAMP":"2026-01-31T10:00:00.000Z"` */
  timestamp(row: RowView): void {
    this.out.copy(row.bytes, keyEnd(row), stampStart(row))
  }

  /** Key, time, stamp and what the template shows, without braces. */
  members(template: EntityTemplate, row: RowView, rowId: number): void {
    this.out.copy(row.bytes, row.headStart, row.slotStart(template.headSlots))
    this.parts(template, row, rowId)
  }

  /** Every attribute, each with the comma in front of it. */
  attributes(template: EntityTemplate, row: RowView, rowId: number): void {
    this.out.copy(row.bytes, row.slotStart(0), row.slotStart(template.headSlots))
    this.parts(template, row, rowId)
  }

  /** What follows the slots that are copied with the head. */
  private parts(template: EntityTemplate, row: RowView, rowId: number): void {
    for (const part of template.parts) {
      if (part.kind === 'slots') this.out.copy(row.bytes, row.slotStart(part.from), row.slotStart(part.to))
      else {
        this.out.copy(part.prefix)
        this.value(part.value, row, rowId)
      }
    }
  }

  private scoreText({ attribute, similarity }: ScoreValue, rowId: number): string {
    this.readVector ??= vectorReader(this.snapshot.table(attribute.dataClass), attribute)
    const vector = this.readVector(rowId)
    return String((vector && scoreOf(similarity, vector)) ?? null)
  }

  private value(value: ValueSource, row: RowView, rowId: number): void {
    const out = this.out
    switch (value.kind) {
      case 'slot':
        out.copy(row.bytes, row.valueStart(value.slot), row.slotStart(value.slot + 1))
        break
      case 'null':
        out.copy(NULL)
        break
      case 'score':
        out.text(this.scoreText(value, rowId))
        break
      case 'properties':
        out.text(JSON.stringify(pick(JSON.parse(row.json(value.slot)), value.properties)))
        break
      case 'relatedEntity': {
        const target = row.reference(value.reference)
        const fragment = target === undefined ? undefined : this.fragments!.get(value)!.get(target)
        if (fragment) out.repeat(fragment.start, fragment.end)
        else out.copy(NULL)
        break
      }
      case 'calculated': {
        const fragment = this.fragments!.get(value)!.get(rowId)!
        out.repeat(fragment.start, fragment.end)
        break
      }
      case 'relatedEntities':
        if (this.isArray) this.array(value, rowId)
        else this.collection(value, row, rowId)
    }
  }

  /** Source: protocol notes, 4.1. */
  private collection(value: RelatedEntitiesValue, row: RowView, rowId: number): void {
    const { count, rowIds } = this.collections!.get(value)!.get(rowId)!
    this.out.ascii('{"__ENTITYSET":')
    // The deferred link of the relation, which the row has, is `{"__deferred":{"uri":"…"}}`.
    this.out.copy(row.bytes, row.valueStart(value.slot) + DEFERRED_URI.length, row.slotStart(value.slot + 1) - 2)
    this.out.ascii(
      `,"__GlobalStamp":${this.snapshot.globalStamp},"__COUNT":${count},"__FIRST":${value.skip},"__ENTITIES":`,
    )
    this.array(value, rowId)
    this.out.ascii(`,"__SENT":${rowIds.length}}`)
  }

  private array(value: RelatedEntitiesValue, rowId: number): void {
    const fragments = this.fragments!.get(value)!
    this.out.ascii('[')
    let isFirst = true
    for (const member of this.collections!.get(value)!.get(rowId)!.rowIds) {
      this.budget?.step()
      const { start, end } = fragments.get(member)!
      if (!isFirst) this.out.byte(COMMA)
      isFirst = false
      this.out.repeat(start, end)
    }
    this.out.ascii(']')
  }

  private remember(value: RelatedValue, fragments: Map<number, Fragment>): void {
    this.fragments ??= new Map()
    this.fragments.set(value, fragments)
  }

  /** @param prefix is written in front of each */
  private writeFragments(template: Template, rowIds: Set<number>, prefix?: Uint8Array): Map<number, Fragment> {
    const read = this.load(template, rowIds)
    const fragments = new Map<number, Fragment>()
    for (const rowId of rowIds) {
      const row = read(rowId)
      if (!row) continue
      if (prefix) this.out.copy(prefix)
      const start = this.out.length
      if (template.kind === 'entity') this.entity(template, row, rowId)
      else this.value(template.value, row, rowId)
      fragments.set(rowId, { start, end: this.out.length })
    }
    return fragments
  }

  /** Of an entity that is not in the store nothing is computed. */
  private writeCalculated({ attribute, properties }: CalculatedValue, rows: Rows): Map<number, Fragment> {
    const fragments = new Map<number, Fragment>()
    for (const [rowId, row] of rows) {
      const json = rowId === NOT_STORED ? 'null' : calculatedText(attribute, rowId, row.layout.wire)
      const start = this.out.length
      this.out.text(properties.size === 0 ? json : JSON.stringify(pick(JSON.parse(json), properties)))
      fragments.set(rowId, { start, end: this.out.length })
    }
    return fragments
  }

  private collectMembers(value: RelatedEntitiesValue, rows: Rows): Set<number> {
    const table = this.snapshot.table(value.of.dataClass)
    const all = new Set<number>()
    const members = new Map<number, Members>()
    for (const [rowId] of rows) {
      this.budget?.step()
      const pointing = rowId === NOT_STORED ? NO_ROWS : table.referencing(value.relation.inverse, rowId)
      const rowIds = pointing.slice(value.skip, value.skip + value.count)
      members.set(rowId, { count: pointing.length, rowIds })
      for (const member of rowIds) all.add(member)
    }
    this.collections ??= new Map()
    this.collections.set(value, members)
    return all
  }

  /** The row for longer than until the next read. Of stable ones only the budget bounds the number. */
  private keep(row: RowView): RowView {
    if (row.isStable) return row
    this.keptBytes += row.length
    if (this.keptBytes > this.projection.maxBytes) throw SerialiseErrors.ANSWER_TOO_LARGE(this.projection.maxBytes)
    return row.copy()
  }
}

function referenced(value: RelatedEntityValue, rows: Rows): Set<number> {
  const rowIds = new Set<number>()
  for (const [, row] of rows) {
    const rowId = row.reference(value.reference)
    if (rowId !== undefined) rowIds.add(rowId)
  }
  return rowIds
}

/** End of the key's text: the first quote in it that no backslash escapes. */
function keyEnd(row: RowView): number {
  let at = row.headStart + KEY.length
  for (; row.bytes[at] !== QUOTE; at++) if (row.bytes[at] === BACKSLASH) at++
  return at + 1
}

/** The stamp ends the head, and its digits hold no colon. */
function stampStart(row: RowView): number {
  let at = row.slotStart(0)
  while (row.bytes[at - 1] !== COLON) at--
  return at - STAMP.length
}

/** Only the named properties; of an array, of each of its elements. What the value does not have is left out. */
function pick(value: unknown, properties: PropertyTree): unknown {
  if (properties.size === 0 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(element => pick(element, properties))
  // No prototype: the properties' names come from the client.
  const picked: Record<string, unknown> = Object.create(null)
  for (const [name, below] of properties) {
    if (Object.hasOwn(value, name)) picked[name] = pick((value as Record<string, unknown>)[name], below)
  }
  return picked
}
