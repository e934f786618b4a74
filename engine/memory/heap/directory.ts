import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import { columnsOver, hasIndex } from '../../catalog/property-columns.ts'
import type { CellForm } from '../../catalog/types/descriptor.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { ColumnAttribute } from '../../data/snapshot.ts'
import { type Address, addressAt } from './address.ts'
import { BITS, type ColumnKind, NUMBERS, POINTERS, VECTORS } from './pages.ts'

/**
 * Parts of a version. Words, unless said otherwise; 0 for an absent address.
 *
 * ```
 * root:   sequence · number of dataclasses · f64 global stamp · address of the shards of texts · address of each table,
 *         in the order of the catalog
 * table:  row id limit · number of rows · sequence as of which rows were last added or removed · page lists: live rows, rows,
 *         each column · hash tables of each index · roots of each order · u32 × segments, sequence as of which rows of a segment last changed
 * ```
 */
export const ROOT_SEQUENCE = 0
/** Index in 64-bit numbers. */
const ROOT_GLOBAL_STAMP = 1
export const ROOT_TEXTS = 4
export const ROOT_TABLES = 5

export const TABLE_LIMIT = 0
export const TABLE_COUNT = 1
export const TABLE_LIVE_SINCE = 2
export const TABLE_LIVE = 3
export const TABLE_ROWS = 4
export const TABLE_CHANGES = 5
export const TABLE_COLUMNS = 6

/** Index of the global stamp of a version among the floats of the memory. */
export const globalStampIndex = (root: Address): number => root / 8 + ROOT_GLOBAL_STAMP

/** Address of the hash table of the nth index of a dataclass. */
export const indexAt = (words: Uint32Array, directory: Address, { columns }: TableShape, n: number): Address =>
  addressAt(words, directory, TABLE_COLUMNS + columns.length + n)

/** Address of the root of the nth order of a dataclass. */
export const orderAt = (words: Uint32Array, directory: Address, { columns, indexed }: TableShape, n: number): Address =>
  addressAt(words, directory, TABLE_COLUMNS + columns.length + indexed.length + n)

/** Parts of a dataclass in shared memory besides its rows: the same for the writer and for readers. */
export interface TableShape {
  readonly layout: RowLayout
  readonly columns: readonly ColumnAttribute[]
  readonly kinds: readonly ColumnKind[]
  /** Attributes with an index; each has a column too. */
  readonly indexed: readonly (StorageAttribute | RelatedEntityAttribute)[]
  /** Indexed attributes whose order is maintained. */
  readonly ordered: readonly StorageAttribute[]
  readonly columnOf: ReadonlyMap<ColumnAttribute, number>
  readonly indexOf: ReadonlyMap<ColumnAttribute, number>
  readonly orderOf: ReadonlyMap<ColumnAttribute, number>
}

export function tableShape(layout: RowLayout): TableShape {
  const columns = layout.slots.flatMap((attribute): readonly ColumnAttribute[] => {
    if (attribute.kind === 'relatedEntities') return []
    return attribute.kind === 'storage' && attribute.type === 'object' ? columnsOver(attribute) : [attribute]
  })
  const indexedAttributes = columns.filter(attribute => attribute.kind === 'relatedEntity' || hasIndex(attribute))
  const orderedAttributes = indexedAttributes.filter(attribute => attribute.kind === 'storage')
  return {
    layout,
    columns,
    kinds: columns.map(kindOfColumn),
    indexed: indexedAttributes,
    ordered: orderedAttributes,
    columnOf: new Map(columns.map((attribute, i) => [attribute, i])),
    indexOf: new Map(indexedAttributes.map((attribute, i) => [attribute, i])),
    orderOf: new Map(orderedAttributes.map((attribute, i) => [attribute, i])),
  }
}

const kindOfColumn = (attribute: ColumnAttribute): ColumnKind =>
  attribute.kind === 'relatedEntity' ? NUMBERS : PAGE_KIND[TYPES[attribute.type].cell]

/** Integer pages are pages of numbers until a value needs 64 bits. Only the properties of an object have columns. */
const PAGE_KIND: Record<CellForm, ColumnKind> = {
  bit: NUMBERS,
  double: NUMBERS,
  integer: NUMBERS,
  date: NUMBERS,
  text: POINTERS,
  vector: VECTORS,
  presence: BITS,
  json: BITS,
}
