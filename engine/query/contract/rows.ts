import { RowSet } from '../../row-set/row-set.ts'

/** Rows between two operators of a plan: a set, or a list if they are ordered. */
export class Rows {
  private constructor(
    /** All rows, including deleted ones: a list in its order, or a set in ascending order. */
    readonly selection: RowSet | Uint32Array,
    private existingRows: RowSet | undefined,
    private readonly live: RowSet,
    /** Size of the whole selection, of which the rows may be a page. */
    readonly total: number,
    /** Ids of a set in the order of its entities' keys, if ascending ids are another order. */
    private readonly byKey?: Uint32Array,
  ) {}

  /** Wraps rows that all exist. */
  static ofSet(set: RowSet): Rows {
    return new Rows(set, set, set, set.size)
  }

  /** Wraps rows that all exist, as a set without order that is shown in this one. */
  static byKey(rowIds: Uint32Array): Rows {
    const set = setOf(rowIds)
    return new Rows(set, set, set, set.size, rowIds)
  }

  /** Wraps an entity set without order. @param live all existing rows */
  static ofMembers(members: RowSet, live: RowSet): Rows {
    return new Rows(members, undefined, live, members.size)
  }

  /** Wraps a list. @param live all existing rows, to which filters of the list are limited */
  static inOrder(rowIds: Uint32Array, live: RowSet, total = rowIds.length): Rows {
    return new Rows(rowIds, undefined, live, total)
  }

  /** Wraps a list of rows that all exist. */
  static ofExisting(rowIds: Uint32Array): Rows {
    const set = RowSet.fromIds(rowIds)
    return new Rows(rowIds, set, set, rowIds.length)
  }

  /** Existing rows, without order. Created on first use: a page of an entity set does not need it. */
  get set(): RowSet {
    this.existingRows ??= (this.selection instanceof RowSet ? this.selection : setOf(this.selection)).and(this.live)
    return this.existingRows
  }

  /** All ids in order. The array may be shared: do not write to it. */
  get rowIds(): Uint32Array {
    if (this.byKey) return this.byKey
    return this.selection instanceof RowSet ? this.selection.toIds() : this.selection
  }

  /** Narrows the rows to `set`, in the same order. */
  narrow(set: RowSet): Rows {
    if (this.byKey) return Rows.byKey(this.byKey.filter(rowId => set.has(rowId)))
    if (this.selection instanceof RowSet) return Rows.ofSet(set)
    return Rows.inOrder(
      this.selection.filter(rowId => set.has(rowId)),
      this.live,
    )
  }

  /** The same selection with its rows, or the first ones, in another order. */
  reordered(rowIds: Uint32Array): Rows {
    return Rows.inOrder(rowIds, this.live, this.total)
  }

  /** Some rows of another selection of the same dataclass. @param total its size */
  ofPage(rowIds: Uint32Array, total: number): Rows {
    return Rows.inOrder(rowIds, this.live, total)
  }

  page(skip: number, count: number): Uint32Array {
    if (this.byKey) return this.byKey.subarray(skip, skip + count)
    return this.selection instanceof RowSet
      ? this.selection.slice(skip, count)
      : this.selection.subarray(skip, skip + count)
  }
}

function setOf(rowIds: Uint32Array): RowSet {
  for (let i = 1; i < rowIds.length; i++) if (rowIds[i - 1]! >= rowIds[i]!) return RowSet.fromIds(rowIds)
  return RowSet.fromSorted(rowIds)
}
