/**
 * Positions of the boxes of a diagram. Distances in the picture follow distances in the graph: stress is lowered pair by pair
 * (J. Zheng, S. Pawar, D. Goodman: Graph drawing by stochastic gradient descent, 2018), then overlapping boxes are pushed apart.
 * The same boxes and lines always yield the same positions.
 */

export interface Size {
  readonly width: number
  readonly height: number
}

interface Place {
  /** Upper left corner. */
  readonly x: number
  readonly y: number
}

type Point = { x: number; y: number }

const ROUNDS = 40
/** Distance between boxes. */
const MARGIN = 36
/** Distance between unconnected parts. */
const GAP = 64
/** Preferred ratio of width to height. */
const RATIO = 1.6
const MAX_PUSHES = 300

/** @param lines pairs of positions in `boxes` */
export function layOut(
  boxes: readonly Size[],
  lines: readonly (readonly [number, number])[],
): { places: Place[]; width: number; height: number } {
  const near: number[][] = boxes.map(() => [])
  for (const [from, to] of lines) {
    if (from === to) continue
    near[from]!.push(to)
    near[to]!.push(from)
  }
  const parts = componentsOf(near).map(members => layOutComponent(members, boxes, near))
  return pack(parts, boxes)
}

function componentsOf(near: readonly (readonly number[])[]): number[][] {
  const seenBoxes = new Set<number>()
  return near.flatMap((_, start) => {
    if (seenBoxes.has(start)) return []
    const members = [...distancesFrom(start, near).keys()]
    for (const each of members) seenBoxes.add(each)
    return [members]
  })
}

/** Number of lines to every reachable box, the nearest first. */
function distancesFrom(start: number, near: readonly (readonly number[])[]): Map<number, number> {
  const distances = new Map([[start, 0]])
  for (const [box, distance] of distances) {
    for (const next of near[box]!) if (!distances.has(next)) distances.set(next, distance + 1)
  }
  return distances
}

interface Component extends Size {
  readonly members: readonly number[]
  /** Corners of the boxes in the component, starting at 0. */
  readonly places: readonly Place[]
}

function layOutComponent(
  members: readonly number[],
  boxes: readonly Size[],
  near: readonly (readonly number[])[],
): Component {
  const sizes = members.map(member => boxes[member]!)
  const centres = spread(stressed(members, sizes, near))
  pushApart(centres, sizes)
  const places = centres.map(({ x, y }, i) => ({ x: x - sizes[i]!.width / 2, y: y - sizes[i]!.height / 2 }))
  const left = Math.min(...places.map(({ x }) => x))
  const top = Math.min(...places.map(({ y }) => y))
  return {
    members,
    places: places.map(({ x, y }) => ({ x: x - left, y: y - top })),
    width: Math.max(...places.map(({ x }, i) => x + sizes[i]!.width)) - left,
    height: Math.max(...places.map(({ y }, i) => y + sizes[i]!.height)) - top,
  }
}

function stressed(members: readonly number[], sizes: readonly Size[], near: readonly (readonly number[])[]): Point[] {
  const random = randomOf(members.length)
  const length = sizes.reduce((sum, { width, height }) => sum + Math.hypot(width, height), 0) / sizes.length + MARGIN
  const points = members.map(() => ({ x: random() * length, y: random() * length }))
  const pairs = members.flatMap((member, i) => {
    const distances = distancesFrom(member, near)
    return members.slice(i + 1).map((other, j) => ({ i, j: i + 1 + j, distance: distances.get(other)! }))
  })
  const furthest = Math.max(1, ...pairs.map(({ distance }) => distance))
  for (let round = 0; round < ROUNDS; round++) {
    shuffle(pairs, random)
    // The rate falls from moves over the whole distance to a tenth of a line.
    const rate = furthest ** 2 * (0.1 / furthest ** 2) ** (round / (ROUNDS - 1))
    for (const { i, j, distance } of pairs) {
      const [a, b] = [points[i]!, points[j]!]
      const [dx, dy] = [a.x - b.x, a.y - b.y]
      const actual = Math.hypot(dx, dy) || 1e-6
      const share = (Math.min(1, rate / distance ** 2) * (actual - distance * length)) / (2 * actual)
      a.x -= share * dx
      a.y -= share * dy
      b.x += share * dx
      b.y += share * dy
    }
  }
  return points
}

/** Rotates the points if they are higher than wide, then stretches them horizontally: views are wide, and so are boxes. */
function spread(points: readonly Point[]): Point[] {
  const span = (values: number[]): number => Math.max(...values) - Math.min(...values)
  const [width, height] = [span(points.map(({ x }) => x)), span(points.map(({ y }) => y))]
  const isLying = width >= height
  const [longer, shorter] = isLying ? [width, height] : [height, width]
  const factor = longer > 0 ? Math.sqrt(Math.max(1, (RATIO * shorter) / longer)) : 1
  return points.map(({ x, y }) => {
    const [along, across] = isLying ? [x, y] : [y, x]
    return { x: along * factor, y: across / factor }
  })
}

/** Moves overlapping boxes apart, each pair along the axis with the smaller overlap. */
function pushApart(centres: readonly Point[], sizes: readonly Size[]): void {
  for (let i = 0; i < MAX_PUSHES; i++) if (!pushOnce(centres, sizes)) return
  // Boxes that still overlap are stacked below the others.
  let bottom = Math.max(...centres.map(({ y }, i) => y + sizes[i]!.height / 2))
  for (let i = 0; i < centres.length; i++) {
    if (!centres.some((_, j) => j < i && overlapOf(centres, sizes, i, j))) continue
    centres[i]!.y = bottom + MARGIN + sizes[i]!.height / 2
    bottom = centres[i]!.y + sizes[i]!.height / 2
  }
}

function pushOnce(centres: readonly Point[], sizes: readonly Size[]): boolean {
  let isPushed = false
  for (let i = 0; i < centres.length; i++) {
    for (let j = 0; j < i; j++) {
      const overlap = overlapOf(centres, sizes, i, j)
      if (!overlap) continue
      isPushed = true
      const axis = overlap.x < overlap.y ? 'x' : 'y'
      const [a, b] = [centres[i]!, centres[j]!]
      const push = ((overlap[axis] + 1) / 2) * (a[axis] < b[axis] ? -1 : 1)
      a[axis] += push
      b[axis] -= push
    }
  }
  return isPushed
}

function overlapOf(centres: readonly Point[], sizes: readonly Size[], i: number, j: number): Point | undefined {
  const x = (sizes[i]!.width + sizes[j]!.width) / 2 + MARGIN - Math.abs(centres[i]!.x - centres[j]!.x)
  const y = (sizes[i]!.height + sizes[j]!.height) / 2 + MARGIN - Math.abs(centres[i]!.y - centres[j]!.y)
  return x > 0 && y > 0 ? { x, y } : undefined
}

/** Arranges the parts in rows, the highest first, with the width at which the whole is shown largest. */
function pack(parts: readonly Component[], boxes: readonly Size[]) {
  const highest = parts.toSorted((a, b) => b.height - a.height)
  let width = -GAP
  const widths = highest.map(part => {
    width += part.width + GAP
    return width
  })
  const least = Math.max(0, ...parts.map(part => part.width))
  const packed = [least, ...widths.filter(each => each > least)].map(limit => inRows(highest, limit, boxes))
  const sizeOf = (each: Size): number => Math.max(each.width, each.height * RATIO)
  return packed.reduce((best, each) => (sizeOf(each) < sizeOf(best) ? each : best))
}

function inRows(parts: readonly Component[], limit: number, boxes: readonly Size[]) {
  const places: Place[] = boxes.map(() => ({ x: 0, y: 0 }))
  let [x, y, rowHeight, width] = [0, 0, 0, 0]
  for (const part of parts) {
    if (x > 0 && x + part.width > limit) {
      y += rowHeight + GAP
      x = 0
      rowHeight = 0
    }
    for (const [i, member] of part.members.entries()) {
      places[member] = { x: x + part.places[i]!.x, y: y + part.places[i]!.y }
    }
    width = Math.max(width, x + part.width)
    x += part.width + GAP
    rowHeight = Math.max(rowHeight, part.height)
  }
  return { places, width, height: y + rowHeight }
}

/** Mulberry32: pseudo-random numbers in [0, 1), the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffle<Item>(items: Item[], random: () => number): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[items[i], items[j]] = [items[j]!, items[i]!]
  }
}
