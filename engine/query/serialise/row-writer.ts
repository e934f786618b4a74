import { readJson } from '../../base/read-json.ts'
import { briefLink, collectionLink } from '../../row-format/wire-value.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { referenceOf } from '../../data/reference-of.ts'
import { vectorReader } from '../../data/read-vectors.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { scoreOf } from '../../vector/math/similarity.ts'
import type { ByteWriter } from '../../answer/byte-writer.ts'
import { calculatedText } from '../contract/calculated-code.ts'
import type { AnswerContext } from './answer.ts'
import type {
  Brief,
  CalculatedValue,
  EntityTemplate,
  Projection,
  PropertyTree,
  RelatedEntitiesValue,
  RelatedValue,
  ScoreValue,
  ValueSource,
} from './projection.ts'

/** Range of the written bytes of a related row. */
export interface Fragment {
  start: number
  end: number
}

/** Entities that are related to one entity: their number, and the rows that are sent with the position of the first. */
export interface MemberPage {
  readonly count: number
  readonly first: number
  readonly rowIds: Uint32Array
}

/** Related rows of the batch that is being written, by row id, for each value that shows any. Most answers have none. */
export interface WrittenRelated {
  readonly fragments: ReadonlyMap<RelatedValue, ReadonlyMap<number, Fragment>> | undefined
  readonly collections: ReadonlyMap<RelatedEntitiesValue, ReadonlyMap<number, MemberPage>> | undefined
  /** Values whose members are not among the fragments. */
  readonly streamed: ReadonlySet<RelatedEntitiesValue> | undefined
  /** Writes entities, separated by commas. */
  stream(template: EntityTemplate, rowIds: Uint32Array): void
}

/** Row id of an entity that is not in the store, which an answer shows at this index. */
export const unsavedId = (index: number): number => -1 - index
export const isUnsaved = (rowId: number): boolean => rowId < 0

const DEAD_ROW = Buffer.from('{"__STAMP":0}')
const VALUES = Buffer.from('{"values":[')
const bytes = (text: string): Uint8Array => Buffer.from(text)
const OPEN = 0x7b
const CLOSE = 0x7d
const COMMA = 0x2c
const COLON = 0x3a
const QUOTE = 0x22
const BACKSLASH = 0x5c
export const NULL = bytes('null')
const KEY = bytes('"__KEY":"')
const STAMP = bytes(',"__STAMP":')
const DEFERRED_URI = bytes('{"__deferred":{"uri":')
const DEFERRED_END_LENGTH = '}}'.length

/** Writes single rows by their templates. Related rows have already been written: a row repeats their bytes. */
export class RowWriter {
  /** Reader of the one attribute that a score is computed from. */
  private readVector: ReturnType<typeof vectorReader> | undefined
  /** True for entities in the form of `$asArray`. */
  private readonly isArray: boolean
  private readonly isTable: boolean

  constructor(
    readonly out: ByteWriter,
    readonly projection: Projection,
    private readonly snapshot: Snapshot,
    private readonly budget: AnswerContext['budget'],
    private readonly relatedRows: WrittenRelated,
  ) {
    this.isArray = projection.form === 'array'
    this.isTable = projection.form === 'table'
  }

  /** Writes the placeholder of an entity that does not exist. */
  writeMissing(template: EntityTemplate): void {
    if (this.isTable) this.out.text(JSON.stringify({ values: template.parts.map(() => null) }))
    else this.out.copy(DEAD_ROW)
  }

  /** Writes an entity with its braces, for lists and inside other entities. */
  entity(template: EntityTemplate, row: RowView, rowId: number): void {
    this.budget?.step()
    if (this.isTable) {
      this.out.copy(VALUES)
      this.parts(template, row, rowId)
      this.out.ascii(']}')
      return
    }
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

  /** Writes key, time, stamp and the content of the template, without braces. */
  members(template: EntityTemplate, row: RowView, rowId: number): void {
    this.out.copy(row.bytes, row.headStart, row.slotStart(template.headSlots))
    this.parts(template, row, rowId)
  }

  /** Writes every attribute with a comma in front of it. */
  attributes(template: EntityTemplate, row: RowView, rowId: number): void {
    this.out.copy(row.bytes, row.slotStart(0), row.slotStart(template.headSlots))
    this.parts(template, row, rowId)
  }

  /** Writes the parts after the slots that are copied with the head. */
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

  value(value: ValueSource, row: RowView, rowId: number): void {
    const out = this.out
    switch (value.kind) {
      case 'slot':
        out.copy(row.bytes, row.valueStart(value.slot), row.slotStart(value.slot + 1))
        break
      case 'brief': {
        const start = row.valueStart(value.slot)
        const { attribute, maxBytes } = value.brief
        if (row.slotStart(value.slot + 1) - start <= maxBytes) out.copy(row.bytes, start, row.slotStart(value.slot + 1))
        else out.text(briefLink(attribute, row.key, row.buffer.subarray(start, start + maxBytes)))
        break
      }
      case 'link':
        out.text(collectionLink(value.alias, row.key))
        break
      case 'null':
        out.copy(NULL)
        break
      case 'score':
        out.text(this.scoreText(value, rowId))
        break
      case 'properties':
        this.budget?.parse(row.slotStart(value.slot + 1) - row.valueStart(value.slot))
        out.text(briefly(JSON.stringify(pick(readJson(row.json(value.slot)), value.properties)), row, value.brief))
        break
      case 'relatedEntity': {
        const target = referenceOf(row, value.reference, this.snapshot)
        const fragment = target === undefined ? undefined : this.relatedRows.fragments!.get(value)!.get(target)
        if (fragment) out.repeat(fragment.start, fragment.end)
        else out.copy(NULL)
        break
      }
      case 'calculated': {
        const fragment = this.relatedRows.fragments!.get(value)!.get(rowId)!
        out.repeat(fragment.start, fragment.end)
        break
      }
      case 'relatedEntities':
        if (this.isArray) this.array(value, rowId)
        else this.collection(value, row, rowId)
    }
  }

  /** Writes a calculated value. */
  calculated({ attribute, properties, brief }: CalculatedValue, row: RowView, rowId: number): void {
    const json = calculatedText(attribute, rowId, row.layout.wire)
    this.out.text(briefly(properties.size === 0 ? json : JSON.stringify(pick(readJson(json), properties)), row, brief))
  }

  /** Source: protocol notes, 4.1. */
  private collection(value: RelatedEntitiesValue, row: RowView, rowId: number): void {
    const { count, first, rowIds } = this.relatedRows.collections!.get(value)!.get(rowId)!
    const { link } = value
    this.out.ascii('{"__ENTITYSET":')
    // A deferred link is `{"__deferred":{"uri":"…"}}`.
    if (link.kind === 'link')
      this.out.text(collectionLink(link.alias, row.key).slice(DEFERRED_URI.length, -DEFERRED_END_LENGTH))
    else {
      const end = row.slotStart(link.slot + 1) - DEFERRED_END_LENGTH
      this.out.copy(row.bytes, row.valueStart(link.slot) + DEFERRED_URI.length, end)
    }
    this.out.ascii(`,"__GlobalStamp":${this.snapshot.globalStamp},"__COUNT":${count},"__FIRST":${first},"__ENTITIES":`)
    this.array(value, rowId)
    this.out.ascii(`,"__SENT":${rowIds.length}}`)
  }

  private array(value: RelatedEntitiesValue, rowId: number): void {
    const { rowIds } = this.relatedRows.collections!.get(value)!.get(rowId)!
    this.out.ascii('[')
    if (this.relatedRows.streamed?.has(value)) this.relatedRows.stream(value.of, rowIds)
    else this.repeat(this.relatedRows.fragments!.get(value)!, rowIds)
    this.out.ascii(']')
  }

  private repeat(fragments: ReadonlyMap<number, Fragment>, rowIds: Uint32Array): void {
    let isFirst = true
    for (const member of rowIds) {
      this.budget?.step()
      const { start, end } = fragments.get(member)!
      if (!isFirst) this.out.byte(COMMA)
      isFirst = false
      this.out.repeat(start, end)
    }
  }
}

/** End of the key's text, after its first quote that is not escaped. */
function keyEnd(row: RowView): number {
  let at = row.headStart + KEY.length
  for (; row.bytes[at] !== QUOTE; at++) if (row.bytes[at] === BACKSLASH) at++
  return at + 1
}

/** Start of the stamp, found by the last colon of the head. */
function stampStart(row: RowView): number {
  let at = row.slotStart(0)
  while (row.bytes[at - 1] !== COLON) at--
  return at - STAMP.length
}

/** JSON text of a value, or a link to it if it is too long. */
function briefly(json: string, row: RowView, brief: Brief | undefined): string {
  if (!brief || Buffer.byteLength(json) <= brief.maxBytes) return json
  return briefLink(brief.attribute, row.key, Buffer.from(json.slice(0, brief.maxBytes)).subarray(0, brief.maxBytes))
}

/** Picks the named properties of an object, or of each element of an array. Missing properties are omitted. */
function pick(value: unknown, properties: PropertyTree): unknown {
  if (properties.size === 0 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(element => pick(element, properties))
  // No prototype, because the names of the properties come from the client.
  const pickedProperties: Record<string, unknown> = Object.create(null)
  for (const [name, below] of properties) {
    if (Object.hasOwn(value, name)) pickedProperties[name] = pick((value as Record<string, unknown>)[name], below)
  }
  return pickedProperties
}
