import { RowSet } from '../../row-set/row-set.ts'

/** Rows between two operators of a plan: a set, or a list where they have an order of their own. */
export class Rows {
  private constructor(
    /** Every row of it, including deleted ones: a list in its order, or a set in ascending order. */
    readonly selection: RowSet | Uint32Array,
    private existing: RowSet | undefined,
    private readonly live: RowSet,
    /** Size of the selection, of which the rows may be a page. */
    readonly total: number,
  ) {}

  /** Wraps rows that all exist. */
  static ofSet(set: RowSet): Rows {
    return new Rows(set, set, set, set.size)
  }

  /** Wraps an entity set without order. @param live the rows that exist */
  static ofMembers(members: RowSet, live: RowSet): Rows {
    return new Rows(members, undefined, live, members.size)
  }

  /** @param live the rows that exist, among which those of the list are looked for when it is filtered */
  static inOrder(rowIds: Uint32Array, live: RowSet, total = rowIds.length): Rows {
    return new Rows(rowIds, undefined, live, total)
  }

  /** Existing rows, without order. Made when it is first asked for: a page of an entity set does not need it. */
  get set(): RowSet {
    this.existing ??= (this.selection instanceof RowSet ? this.selection : setOf(this.selection)).and(this.live)
    return this.existing
  }

  /** All ids in order. May be shared: do not write to it. */
  get rowIds(): Uint32Array {
    return this.selection instanceof RowSet ? this.selection.toIds() : this.selection
  }

  /** The members of `set`, in the same order. */
  narrow(set: RowSet): Rows {
    if (this.selection instanceof RowSet) return Rows.ofSet(set)
    return Rows.inOrder(
      this.selection.filter(rowId => set.has(rowId)),
      this.live,
    )
  }

  /** The same selection with its rows, or the first of them, in another order. */
  reordered(rowIds: Uint32Array): Rows {
    return Rows.inOrder(rowIds, this.live, this.total)
  }

  /** Some rows of another selection of the same dataclass. @param total its size */
  ofPage(rowIds: Uint32Array, total: number): Rows {
    return Rows.inOrder(rowIds, this.live, total)
  }

  page(skip: number, count: number): Uint32Array {
    return this.selection instanceof RowSet
      ? this.selection.slice(skip, count)
      : this.selection.subarray(skip, skip + count)
  }
}

function setOf(rowIds: Uint32Array): RowSet {
  for (let i = 1; i < rowIds.length; i++) if (rowIds[i - 1]! >= rowIds[i]!) return RowSet.fromIds(rowIds)
  return RowSet.fromSorted(rowIds)
}
