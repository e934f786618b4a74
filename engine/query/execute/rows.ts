import { RowSet } from '../../row-set/row-set.ts'

/** Rows between two operators of a plan: a set, or a list where they have an order of their own. */
export class Rows {
  private constructor(
    private memberSet: RowSet | undefined,
    /** In this order, with ids of rows that do not exist any more; undefined: the set in ascending order. */
    readonly sequence: Uint32Array | undefined,
    private readonly live: RowSet,
    /** Size of the selection, of which the rows may be a page. */
    readonly total: number,
  ) {}

  static ofSet(set: RowSet): Rows {
    return new Rows(set, undefined, set, set.size)
  }

  /** @param live the rows that exist, among which those of the list are looked for when it is filtered */
  static inOrder(rowIds: Uint32Array, live: RowSet, total = rowIds.length): Rows {
    return new Rows(undefined, rowIds, live, total)
  }

  /** Those that exist, without order. Made when it is first asked for: a page of an entity set does not need it. */
  get set(): RowSet {
    this.memberSet ??= setOf(this.sequence!).and(this.live)
    return this.memberSet
  }

  /** All ids in order. May be shared: do not write to it. */
  get rowIds(): Uint32Array {
    return this.sequence ?? this.set.toIds()
  }

  /** The members of `set`, in the same order. */
  narrow(set: RowSet): Rows {
    if (!this.sequence) return Rows.ofSet(set)
    return Rows.inOrder(
      this.sequence.filter(rowId => set.has(rowId)),
      this.live,
    )
  }

  /** The same selection with its rows, or the first of them, in another order. */
  reordered(rowIds: Uint32Array): Rows {
    return Rows.inOrder(rowIds, this.live, this.total)
  }

  page(skip: number, count: number): Uint32Array {
    return this.sequence ? this.sequence.subarray(skip, skip + count) : this.set.slice(skip, count)
  }
}

function setOf(rowIds: Uint32Array): RowSet {
  for (let i = 1; i < rowIds.length; i++) if (rowIds[i - 1]! >= rowIds[i]!) return RowSet.fromIds(rowIds)
  return RowSet.fromSorted(rowIds)
}
