import { type Address, wordAt, wordIndex } from '../heap/address.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'

/**
 * The rows of a dataclass in the order of an attribute's values, null first, and of their ids for equal values: a B+tree with
 * counts, so that positions are found as fast as values. It holds only row ids; their values are in the column of the same
 * version.
 *
 * ```
 * node:   u32 sequence of the version that it was made for · u32 level << 16 | length
 * leaf:   level 0; u32 row ids
 * inner:  three arrays of INNER_CAPACITY words: addresses of the nodes below, numbers of rows below each, first row of each
 * ```
 *
 * Nodes are copied on write: a version refers to a tree by its root.
 */
export const NODE_BYTES = 1024
export const NODE_BORN = 0
export const NODE_SHAPE = 1
export const NODE_ENTRIES = 2
export const LEAF_CAPACITY = NODE_BYTES / 4 - NODE_ENTRIES
export const INNER_CAPACITY = Math.floor(LEAF_CAPACITY / 3)
/** Starts of the arrays in an inner node, in words. */
export const BELOW = NODE_ENTRIES
export const COUNTS = BELOW + INNER_CAPACITY
export const FIRSTS = COUNTS + INNER_CAPACITY

/** Predicate that is true for all rows up to some position in the order, and false for those after it. */
export type RowTest = (rowId: number) => boolean

export const levelOf = (words: Uint32Array, node: Address): number => words[(node >>> 2) + NODE_SHAPE]! >>> 16
export const lengthOf = (words: Uint32Array, node: Address): number => words[(node >>> 2) + NODE_SHAPE]! & 0xffff

/** The node below an entry of an inner node. */
export const childAt = (words: Uint32Array, node: Address, entry: number): Address =>
  words[(node >>> 2) + BELOW + entry]! as Address

/** Index of the first row of a leaf. */
export const rowsStart = (leaf: Address): number => (leaf >>> 2) + NODE_ENTRIES

/** Number of rows in or below a node. */
export function rowCountOf(words: Uint32Array, node: Address): number {
  const length = lengthOf(words, node)
  if (levelOf(words, node) === 0) return length
  const counts = wordIndex(node, COUNTS)
  let rows = 0
  for (let i = 0; i < length; i++) rows += words[counts + i]!
  return rows
}

/** The lowest row in or below a node that is not empty. */
export const firstRowOf = (words: Uint32Array, node: Address): number =>
  wordAt(words, node, levelOf(words, node) === 0 ? NODE_ENTRIES : FIRSTS)

/** The highest row in or below a node that is not empty. */
export function lastRowOf(words: Uint32Array, node: Address): number {
  let below = node
  while (levelOf(words, below) > 0) below = childAt(words, below, lengthOf(words, below) - 1)
  return words[rowsStart(below) + lengthOf(words, below) - 1]!
}

/** Number of rows that pass, of the `length` rows from the word `start` on. */
export function countUpTo(words: Uint32Array, start: number, length: number, isUpTo: RowTest): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isUpTo(words[start + middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

/** Entry of an inner node below which the last row that passes is; the first entry when there is none. */
export function childUpTo(words: Uint32Array, node: Address, isUpTo: RowTest): number {
  return countUpTo(words, wordIndex(node, FIRSTS) + 1, lengthOf(words, node) - 1, isUpTo)
}

/** Number of rows that pass. Cost: O(log n) tests. */
export function positionOf({ words }: SharedHeap, root: Address, isUpTo: RowTest): number {
  let position = 0
  let node = root
  while (levelOf(words, node) > 0) {
    const child = childUpTo(words, node, isUpTo)
    const counts = wordIndex(node, COUNTS)
    for (let i = 0; i < child; i++) position += words[counts + i]!
    node = childAt(words, node, child)
  }
  return position + countUpTo(words, rowsStart(node), lengthOf(words, node), isUpTo)
}

/** The rows at positions `start` … `end - 1`. Cost: O(log n + rows). */
export function rowsBetween({ words }: SharedHeap, root: Address, start: number, end: number): Uint32Array {
  const rowIds = new Uint32Array(Math.max(0, end - start))
  if (rowIds.length > 0) copyRows(words, root, start, end, rowIds, 0)
  return rowIds
}

/** @param start @param end positions relative to this node; they may be outside it on both sides */
function copyRows(words: Uint32Array, node: Address, start: number, end: number, out: Uint32Array, to: number): number {
  const length = lengthOf(words, node)
  if (levelOf(words, node) === 0) {
    const first = rowsStart(node)
    const from = Math.max(0, start)
    const until = Math.min(length, end)
    for (let i = from; i < until; i++) out[to + i - from] = words[first + i]!
    return to + until - from
  }
  const counts = wordIndex(node, COUNTS)
  let outPosition = to
  let position = 0
  for (let i = 0; i < length && position < end; i++) {
    const count = words[counts + i]!
    if (position + count > start) {
      outPosition = copyRows(words, childAt(words, node, i), start - position, end - position, out, outPosition)
    }
    position += count
  }
  return outPosition
}
