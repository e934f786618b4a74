import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import { columnsOver } from '../catalog/property-columns.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import { hasIndex } from '../storage/secondary-index.ts'
import type { ColumnAttribute } from '../storage/snapshot.ts'
import { BITS, NUMBERS, type PageKind, POINTERS, VECTORS } from './pages.ts'

/**
 * What a version consists of. Words, unless said otherwise; 0 for an address that there is not.
 *
 * ```
 * root:   sequence · number of dataclasses · f64 global stamp · address of the shards of texts · address of each table,
 *         in the order of the catalog
 * table:  row id limit · number of rows · sequence as of which rows last came or went · page lists: live rows, rows,
 *         each column · hash tables of each index · roots of each order · u32 × segments, sequence as of which rows of a segment last changed
 * ```
 */
export const ROOT_GLOBAL_STAMP = 2
export const ROOT_TEXTS = 4
export const ROOT_TABLES = 5

export const TABLE_LIMIT = 0
export const TABLE_COUNT = 1
export const TABLE_LIVE_SINCE = 2
export const TABLE_LIVE = 3
export const TABLE_ROWS = 4
export const TABLE_CHANGES = 5
export const TABLE_COLUMNS = 6

/** In front of the bytes of a row: u32 length, u32 sequence of the version that it was made for. */
export const ROW_HEADER_BYTES = 8

/** What of a dataclass is in shared memory besides its rows: the same for the writer and for readers. */
export interface TableShape {
  readonly layout: RowLayout
  readonly columns: readonly ColumnAttribute[]
  readonly kinds: readonly PageKind[]
  /** Each has a column too. */
  readonly indexed: readonly (StorageAttribute | RelatedEntityAttribute)[]
  /** Those of them whose order is kept. */
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
  const indexed = columns.filter(attribute => attribute.kind === 'relatedEntity' || hasIndex(attribute))
  const ordered = indexed.filter(attribute => attribute.kind === 'storage')
  return {
    layout,
    columns,
    kinds: columns.map(kindOf),
    indexed,
    ordered,
    columnOf: new Map(columns.map((attribute, i) => [attribute, i])),
    indexOf: new Map(indexed.map((attribute, i) => [attribute, i])),
    orderOf: new Map(ordered.map((attribute, i) => [attribute, i])),
  }
}

function kindOf(attribute: ColumnAttribute): PageKind {
  if (attribute.kind === 'relatedEntity') return NUMBERS
  switch (attribute.type) {
    case 'string':
    case 'uuid':
      return POINTERS
    case 'vector':
      return VECTORS
    case 'image':
    case 'blob':
      return BITS
    default:
      return NUMBERS
  }
}
