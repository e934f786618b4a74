import { type Address, NO_ADDRESS, wordAt, wordIndex } from '../heap/address.ts'
import {
  BELOW,
  childAt,
  childUpTo,
  COUNTS,
  countUpTo,
  FIRSTS,
  firstRowOf,
  INNER_CAPACITY,
  LEAF_CAPACITY,
  lastRowOf,
  lengthOf,
  levelOf,
  NODE_BORN,
  NODE_BYTES,
  NODE_ENTRIES,
  NODE_SHAPE,
  type RowTest,
  rowCountOf,
  rowsStart,
} from './order-tree.ts'
import type { Workspace } from '../heap/pages.ts'

type Follows = (previous: number, rowId: number) => boolean

/** Neighbours that together fill no more than this share of a node are merged. */
const MERGED_SHARE = 0.5
/** Initial fill of nodes, so that the next rows do not split each of them. */
const BUILT_SHARE = 0.9

/**
 * An order for the writer (`order-tree.ts`). Nodes that readers may have are copied before they change, once for each version.
 * Each new node is in the tree before the next one is allocated, so that the tree can still be cleared after {@link MemoryFull}.
 */
export class OrderWriter {
  private readonly words: Uint32Array
  /** Positions of a run of rows in a leaf: how many rows of the leaf are before each. */
  private readonly positions = new Uint8Array(LEAF_CAPACITY)

  /** @param root root of an existing tree; {@link NO_ADDRESS} if {@link build} is still to make one */
  constructor(
    private readonly space: Workspace,
    public root = NO_ADDRESS,
  ) {
    this.words = space.heap.words
  }

  get isBuilt(): boolean {
    return this.root !== 0
  }

  /** @param rowIds in order @throws {MemoryFull} */
  build(rowIds: Uint32Array): void {
    const newNodes: Address[] = []
    try {
      let nodes = this.buildLeaves(rowIds, newNodes)
      for (let level = 1; nodes.length > 1; level++) nodes = this.buildLevel(level, nodes, newNodes)
      this.root = nodes[0]!
    } catch (error) {
      for (const node of newNodes) this.retire(node)
      throw error
    }
  }

  /**
   * Inserts rows, which ascend in the order: a leaf is found once for all rows that it receives.
   * @param upTo creates the test for the rows up to a given one
   * @param follows true if a row certainly comes directly after the one before it @throws {MemoryFull}
   */
  insert(rowIds: Uint32Array, upTo: (rowId: number) => RowTest, follows: Follows): void {
    for (let insertedCount = 0; insertedCount < rowIds.length; )
      insertedCount += this.insertRun(rowIds, insertedCount, upTo, follows)
  }

  /** @param isUpTo true for the row to be removed and all rows before it @throws {MemoryFull} */
  remove(isUpTo: RowTest): void {
    const { words } = this
    this.root = this.writable(this.root)
    this.removeBelow(this.root, isUpTo)
    while (levelOf(words, this.root) > 0 && lengthOf(words, this.root) === 1) {
      const only = childAt(words, this.root, 0)
      this.retire(this.root)
      this.root = only
    }
  }

  /** Frees everything as of the version that is being created. */
  clear(): void {
    if (this.root !== 0) this.clearBelow(this.root)
    this.root = NO_ADDRESS
  }

  private buildLeaves(rowIds: Uint32Array, newNodes: Address[]): Address[] {
    const size = Math.floor(LEAF_CAPACITY * BUILT_SHARE)
    const leaves: Address[] = []
    for (let start = 0; start === 0 || start < rowIds.length; start += size) {
      const leaf = this.newNode(0)
      newNodes.push(leaf)
      leaves.push(leaf)
      const rows = rowIds.subarray(start, start + size)
      this.words.set(rows, rowsStart(leaf))
      this.setLength(leaf, rows.length)
    }
    return leaves
  }

  private buildLevel(level: number, below: readonly Address[], newNodes: Address[]): Address[] {
    const size = Math.floor(INNER_CAPACITY * BUILT_SHARE)
    const nodes: Address[] = []
    for (let start = 0; start < below.length; start += size) {
      const node = this.newNode(level)
      newNodes.push(node)
      nodes.push(node)
      for (const child of below.slice(start, start + size)) this.insertChild(node, lengthOf(this.words, node), child)
    }
    return nodes
  }

  /** Inserts the rows from `from` on that belong to one leaf. @returns their number */
  private insertRun(rowIds: Uint32Array, from: number, upTo: (rowId: number) => RowTest, follows: Follows): number {
    const { words } = this
    const isUpTo = upTo(rowIds[from]!)
    this.root = this.writable(this.root)
    if (this.isFull(this.root)) this.raiseRoot()
    let node = this.root
    // Keys mostly grow: one comparison shows that a row comes after all others.
    const isBehindAll = lengthOf(words, node) > 0 && isUpTo(lastRowOf(words, node))
    let isLast = true
    /** Words that count the rows of the leaf. */
    const counts: number[] = []
    /** First row after the leaf. */
    let next: number | undefined
    while (levelOf(words, node) > 0) {
      let child = isBehindAll ? lengthOf(words, node) - 1 : childUpTo(words, node, isUpTo)
      isLast &&= child === lengthOf(words, node) - 1
      if (this.isFull(this.writableChild(node, child))) {
        // When rows arrive in ascending order, the split leaves full nodes instead of half-full ones.
        this.split(node, child, isLast)
        child = isBehindAll ? lengthOf(words, node) - 1 : childUpTo(words, node, isUpTo)
      }
      counts.push(wordIndex(node, COUNTS + child))
      const first = wordIndex(node, FIRSTS + child)
      if (child === 0 && !isUpTo(words[first]!)) words[first] = rowIds[from]!
      if (child < lengthOf(words, node) - 1) next = words[first + 1]!
      node = childAt(words, node, child)
    }
    const insertedCount = this.insertIntoLeaf(node, rowIds, from, { upTo, follows, next })
    for (const count of counts) words[count]! += insertedCount
    return insertedCount
  }

  /** @param next first row after the leaf @returns number of inserted rows */
  private insertIntoLeaf(
    leaf: Address,
    rowIds: Uint32Array,
    from: number,
    { upTo, follows, next }: { upTo: (rowId: number) => RowTest; follows: Follows; next: number | undefined },
  ): number {
    const { words, positions } = this
    const start = rowsStart(leaf)
    const length = lengthOf(words, leaf)
    const most = Math.min(rowIds.length - from, LEAF_CAPACITY - length)
    let count = 0
    for (let position = 0; count < most; count++) {
      // After the last row of the last leaf, nothing is compared.
      const isCompared = position < length || next !== undefined
      if (isCompared && (count === 0 || !follows(rowIds[from + count - 1]!, rowIds[from + count]!))) {
        const isUpTo = upTo(rowIds[from + count]!)
        if (count > 0 && next !== undefined && isUpTo(next)) break
        position += countUpTo(words, start + position, length - position, isUpTo)
      }
      positions[count] = position
    }
    // From the end, so that no row is overwritten before it has moved.
    let end = length
    for (let i = count - 1; i >= 0; i--) {
      const position = positions[i]!
      for (let at = end - 1; at >= position; at--) words[start + at + i + 1] = words[start + at]!
      words[start + position + i] = rowIds[from + i]!
      end = position
    }
    this.setLength(leaf, length + count)
    return count
  }

  private removeBelow(node: Address, isUpTo: RowTest): void {
    const { words } = this
    const length = lengthOf(words, node)
    if (levelOf(words, node) === 0) {
      const start = rowsStart(node)
      const position = countUpTo(words, start, length, isUpTo)
      words.copyWithin(start + position - 1, start + position, start + length)
      this.setLength(node, length - 1)
      return
    }
    const child = childUpTo(words, node, isUpTo)
    const below = this.writableChild(node, child)
    this.removeBelow(below, isUpTo)
    words[wordIndex(node, COUNTS + child)]!--
    if (lengthOf(words, below) === 0) {
      this.removeChild(node, child)
      this.retire(below)
      return
    }
    words[wordIndex(node, FIRSTS + child)] = firstRowOf(words, below)
    if (child > 0) this.mergeWithNext(node, child - 1)
    else if (length > 1) this.mergeWithNext(node, child)
  }

  private mergeWithNext(node: Address, child: number): void {
    const { words } = this
    const next = childAt(words, node, child + 1)
    const isLeaf = levelOf(words, next) === 0
    const capacity = isLeaf ? LEAF_CAPACITY : INNER_CAPACITY
    const length = lengthOf(words, childAt(words, node, child))
    const more = lengthOf(words, next)
    if (length + more > capacity * MERGED_SHARE) return
    const into = this.writableChild(node, child)
    for (const array of isLeaf ? [NODE_ENTRIES] : [BELOW, COUNTS, FIRSTS]) {
      const from = wordIndex(next, array)
      words.copyWithin(wordIndex(into, array + length), from, from + more)
    }
    this.setLength(into, length + more)
    words[wordIndex(node, COUNTS + child)]! += wordAt(words, node, COUNTS + child + 1)
    this.removeChild(node, child + 1)
    this.retire(next)
  }

  private raiseRoot(): void {
    const root = this.newNode(levelOf(this.words, this.root) + 1)
    this.insertChild(root, 0, this.root)
    this.root = root
  }

  /** Splits a full node. @param isLast whether only the last entry moves */
  private split(node: Address, child: number, isLast: boolean): void {
    const { words } = this
    const full = childAt(words, node, child)
    const length = lengthOf(words, full)
    const keptCount = isLast ? length - 1 : length >>> 1
    const sibling = this.newNode(levelOf(words, full))
    for (const array of levelOf(words, full) === 0 ? [NODE_ENTRIES] : [BELOW, COUNTS, FIRSTS]) {
      const from = wordIndex(full, array)
      words.copyWithin(wordIndex(sibling, array), from + keptCount, from + length)
    }
    this.setLength(sibling, length - keptCount)
    this.setLength(full, keptCount)
    words[wordIndex(node, COUNTS + child)] = rowCountOf(words, full)
    this.insertChild(node, child + 1, sibling)
  }

  private insertChild(node: Address, entry: number, child: Address): void {
    const { words } = this
    const length = lengthOf(words, node)
    for (const array of [BELOW, COUNTS, FIRSTS]) {
      const start = wordIndex(node, array)
      words.copyWithin(start + entry + 1, start + entry, start + length)
    }
    words[wordIndex(node, BELOW + entry)] = child
    words[wordIndex(node, COUNTS + entry)] = rowCountOf(words, child)
    words[wordIndex(node, FIRSTS + entry)] = firstRowOf(words, child)
    this.setLength(node, length + 1)
  }

  private removeChild(node: Address, entry: number): void {
    const length = lengthOf(this.words, node)
    for (const array of [BELOW, COUNTS, FIRSTS]) {
      const start = wordIndex(node, array)
      this.words.copyWithin(start + entry, start + entry + 1, start + length)
    }
    this.setLength(node, length - 1)
  }

  private isFull(node: Address): boolean {
    return lengthOf(this.words, node) === (levelOf(this.words, node) === 0 ? LEAF_CAPACITY : INNER_CAPACITY)
  }

  private setLength(node: Address, length: number): void {
    const shape = wordIndex(node, NODE_SHAPE)
    this.words[shape] = (this.words[shape]! & 0xffff0000) | length
  }

  private newNode(level: number): Address {
    const node = this.space.allocator.allocate(NODE_BYTES, 'orders')
    this.words[wordIndex(node, NODE_BORN)] = this.space.sequence
    this.words[wordIndex(node, NODE_SHAPE)] = level << 16
    return node
  }

  private writableChild(node: Address, child: number): Address {
    const writable = this.writable(childAt(this.words, node, child))
    this.words[wordIndex(node, BELOW + child)] = writable
    return writable
  }

  private writable(node: Address): Address {
    const { heap, allocator, sequence } = this.space
    if (wordAt(this.words, node, NODE_BORN) === sequence) return node
    const copy = allocator.allocate(NODE_BYTES, 'orders')
    heap.copy(node, copy, NODE_BYTES)
    this.words[wordIndex(copy, NODE_BORN)] = sequence
    this.retire(node)
    return copy
  }

  private clearBelow(node: Address): void {
    const length = levelOf(this.words, node) > 0 ? lengthOf(this.words, node) : 0
    for (let i = 0; i < length; i++) this.clearBelow(childAt(this.words, node, i))
    this.retire(node)
  }

  private retire(node: Address): void {
    const { reclaimer, allocator, sequence } = this.space
    reclaimer.retire(wordAt(this.words, node, NODE_BORN), sequence, () => allocator.free(node, NODE_BYTES, 'orders'))
  }
}
