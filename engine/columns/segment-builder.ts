import type { CellForm } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { lengthOf } from '../vector/math/similarity.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RowView } from '../row-format/row-view.ts'
import { propertyReader } from '../row-format/read-property.ts'
import {
  readBoolean,
  readDate,
  readFoldedText,
  readInteger,
  readJson,
  readNumber,
  readPresence,
  readVector,
} from '../row-format/read-value.ts'
import {
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Segment,
  UNPARSED,
  VECTOR_HEADER_BYTES,
  type VectorSegment,
  vectorStart,
} from '../data/snapshot.ts'

/** A segment and its size in the memory budget, in bytes: an estimate where it holds JavaScript objects. */
export interface SizedSegment {
  readonly segment: Segment
  readonly bytes: number
}

/** Reads a value of one attribute from a row; undefined for null. */
type Read = (row: RowView) => unknown

/** Builds one attribute's segment from rows, or from the previous segment and the rows that have changed since. */
export class SegmentBuilder {
  private readonly read: Read
  private readonly present: Uint32Array
  private numbers: Float64Array | undefined
  private bigints: BigInt64Array | undefined
  private readonly objects: unknown[] | undefined
  private readonly vectors: VectorPart | undefined
  private readonly kind: SegmentKind
  private jsonBytes: number

  constructor(
    layout: RowLayout,
    private readonly attribute: ColumnAttribute,
    private readonly previous?: SizedSegment,
  ) {
    this.kind = segmentKind(attribute)
    this.read = reader(layout, attribute)
    this.jsonBytes = previous && this.kind === 'json' ? (previous.bytes - FIXED_BYTES) / OBJECT_BYTES_PER_JSON_BYTE : 0
    const from = previous?.segment
    this.present = from ? from.presence.slice() : new Uint32Array(SEGMENT_WORDS)
    if (from?.kind === 'bigint') this.bigints = from.values.slice()
    else if (this.kind === 'number')
      this.numbers = from?.kind === 'number' ? from.values.slice() : new Float64Array(SEGMENT_ROWS)
    else if (this.kind === 'vector')
      this.vectors = new VectorPart(vectorDimension(attribute), from?.kind === 'vector' ? from : undefined)
    else if (this.kind !== 'presence') {
      this.objects =
        from?.kind === 'text' || from?.kind === 'json' ? [...from.values] : new Array(SEGMENT_ROWS).fill(undefined)
    }
  }

  /** @param row undefined when it does not exist */
  put(entry: number, row: RowView | undefined): void {
    const value = row && (this.isLarge(row) ? UNPARSED : this.read(row))
    const bit = 1 << (entry & 31)
    if (value === undefined) {
      this.present[entry >>> 5]! &= ~bit
      if (this.objects) this.objects[entry] = undefined
      return
    }
    this.present[entry >>> 5]! |= bit
    if (this.vectors) this.vectors.put(entry, value as Float32Array)
    else if (this.objects) {
      this.objects[entry] = value
      if (this.kind === 'json' && value !== UNPARSED) this.jsonBytes += jsonSize(row!, this.attribute)
    } else if (this.bigints) this.bigints[entry] = BigInt(value as number | bigint)
    else if (typeof value === 'bigint') {
      this.bigints = BigInt64Array.from(this.numbers!, BigInt)
      this.bigints[entry] = value
    } else if (this.numbers) this.numbers[entry] = value as number
  }

  private isLarge(row: RowView): boolean {
    if (this.kind !== 'json') return false
    const bytes = jsonSize(row, this.attribute)
    // When a segment is patched, the count includes replaced values and is too high to be compared with the limit.
    return bytes > MAX_OBJECT_BYTES || (!this.previous && this.jsonBytes + bytes > MAX_OBJECTS_BYTES)
  }

  finish(): SizedSegment {
    const { present } = this
    if (this.bigints)
      return { segment: { kind: 'bigint', presence: present, values: this.bigints }, bytes: FIXED_BYTES }
    if (this.numbers)
      return { segment: { kind: 'number', presence: present, values: this.numbers }, bytes: FIXED_BYTES }
    if (this.vectors) return this.vectors.finish(present)
    if (this.kind === 'text') {
      const values = this.objects as (string | undefined)[]
      let bytes = FIXED_BYTES
      for (const value of values) if (value !== undefined) bytes += STRING_HEADER_BYTES + value.length
      return { segment: { kind: 'text', presence: present, values }, bytes }
    }
    if (this.kind === 'json') {
      return {
        segment: { kind: 'json', presence: present, values: this.objects! },
        bytes: FIXED_BYTES + OBJECT_BYTES_PER_JSON_BYTE * this.jsonBytes,
      }
    }
    return { segment: { kind: 'presence', presence: present }, bytes: present.byteLength }
  }
}

/** Vectors of a segment, one after the other. */
class VectorPart {
  private readonly floats: Float32Array
  private readonly starts: Uint32Array

  constructor(dimension: number, previous?: VectorSegment) {
    const stride = VECTOR_HEADER_BYTES + dimension * 4
    this.floats = previous?.floats.slice() ?? new Float32Array((SEGMENT_ROWS * stride) / 4)
    this.starts = previous?.starts ?? Uint32Array.from({ length: SEGMENT_ROWS }, (_, entry) => entry * stride)
  }

  put(entry: number, vector: Float32Array): void {
    const start = vectorStart(this.starts[entry]!)
    this.floats.set(vector, start)
    this.floats[start - 1] = lengthOf(vector)
  }

  finish(present: Uint32Array): SizedSegment {
    const { floats, starts } = this
    return { segment: { kind: 'vector', presence: present, floats, starts }, bytes: FIXED_BYTES + floats.byteLength }
  }
}

const vectorDimension = (attribute: ColumnAttribute): number =>
  attribute.kind === 'storage' ? attribute.vector!.dimension : 0

const FIXED_BYTES = SEGMENT_ROWS * 8 + SEGMENT_WORDS * 4
const STRING_HEADER_BYTES = 24
/** Bytes of V8 objects per byte of JSON text: measured 3 to 6 for small objects. */
const OBJECT_BYTES_PER_JSON_BYTE = 5

/** Maximum JSON text of an object that is kept parsed: some 1,000 names, beyond which V8 takes several times as long for each. */
const MAX_OBJECT_BYTES = 8 * 1024
/** Maximum JSON text of all objects of a segment, which are parsed together: 0.1 to 0.2 s. Only pool threads parse them all. */
const MAX_OBJECTS_BYTES = 16 * 2 ** 20

function jsonSize(row: RowView, attribute: ColumnAttribute): number {
  const slot = row.layout.slotOf.get(attribute)!
  return row.slotStart(slot + 1) - row.valueStart(slot)
}

const segmentKind = (attribute: ColumnAttribute): SegmentKind =>
  attribute.kind === 'relatedEntity' ? 'number' : SEGMENT_KIND[TYPES[attribute.type].cell]

type SegmentKind = 'number' | 'text' | 'vector' | 'json' | 'presence'

/** Kind of segment by form of cells. A segment of integers has numbers until one of them needs 64 bits. */
const SEGMENT_KIND: Record<CellForm, SegmentKind> = {
  bit: 'number',
  double: 'number',
  integer: 'number',
  date: 'number',
  text: 'text',
  json: 'json',
  vector: 'vector',
  presence: 'presence',
}

function reader(layout: RowLayout, attribute: ColumnAttribute): Read {
  if (attribute.kind === 'relatedEntity') {
    const reference = layout.referenceOf.get(attribute)!
    return row => row.reference(reference)
  }
  const { source, head } = attribute
  if (head) return row => row.headValue(head)
  const slot = layout.slotOf.get(source?.object ?? attribute)!
  if (source) {
    const read = propertyReader(attribute, readFoldedText)
    return row => read(row.buffer, row.valueStart(slot))
  }
  const { wire } = layout
  switch (TYPES[attribute.type].cell) {
    case 'text':
      return row => readFoldedText(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
    case 'json':
      return row => readJson(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
    case 'vector': {
      const vector = new Float32Array(attribute.vector!.dimension)
      return row => readVector(row.buffer, row.valueStart(slot), row.slotStart(slot + 1), vector)
    }
    case 'presence':
      return row => readPresence(row.buffer, row.valueStart(slot))
    case 'bit':
      return row => readBoolean(row.buffer, row.valueStart(slot))
    case 'date':
      return row => readDate(row.buffer, row.valueStart(slot), row.slotStart(slot + 1), attribute.simpleDate, wire)
    case 'integer':
      return row => readInteger(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
    case 'double':
      return row => readNumber(row.buffer, row.valueStart(slot), row.slotStart(slot + 1))
  }
}
