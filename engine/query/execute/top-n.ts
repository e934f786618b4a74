import type { PositionOrder } from './sort-keys.ts'

/** Positions 0 … length - 1 in order. O(n log n). */
export const sortPositions = (length: number, order: PositionOrder): Uint32Array =>
  Uint32Array.from({ length }, (_, position) => position).sort(order)

/**
 * The first `count` of the positions 0 … length - 1, in order. A heap holds the best so far with the last of them on top, where
 * a better one replaces it. O(n log k) time, O(k) memory.
 */
export function topPositions(length: number, count: number, order: PositionOrder): Uint32Array {
  // A heap as large as its input would only be a slower sort.
  if (count * 2 >= length) return sortPositions(length, order).subarray(0, count)
  const heap = Uint32Array.from({ length: count }, (_, position) => position)
  for (let i = (count >>> 1) - 1; i >= 0; i--) siftDown(heap, i, order)
  for (let position = count; position < length; position++) {
    if (order(position, heap[0]!) < 0) {
      heap[0] = position
      siftDown(heap, 0, order)
    }
  }
  return heap.sort(order)
}

function siftDown(heap: Uint32Array, start: number, order: PositionOrder): void {
  const position = heap[start]!
  let hole = start
  for (;;) {
    let child = 2 * hole + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && order(heap[child]!, heap[child + 1]!) < 0) child++
    if (order(position, heap[child]!) >= 0) break
    heap[hole] = heap[child]!
    hole = child
  }
  heap[hole] = position
}
