/** Boxes and lines of a model, and their positions. */
import { type Attribute, type DataClass, isRelation } from '../base/model.ts'
import { layOut, type Size } from './layout.ts'
import { type Relation, relationsOf } from './relations.ts'

export interface Box extends Size {
  readonly dataClass: DataClass
  readonly x: number
  readonly y: number
  /** Attributes that are listed in the box. */
  readonly attributes: readonly Attribute[]
  /** Number of attributes that are not listed. */
  readonly more: number
}

interface Line {
  readonly relation: Relation
  /** Data of an SVG path. */
  readonly path: string
  /** Position of the name. */
  readonly x: number
  readonly y: number
}

export interface Diagram extends Size {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

export const HEAD = 30
export const ROW = 18
const WIDTH = 190
/** Width of a letter in the name of a box without attributes, which is larger. */
const LETTER = 11.5
/** Number of dataclasses above which a model is first shown by names only. */
export const MANY = 30
const MAX_ATTRIBUTES = 7
/** Distance between lines that connect the same boxes. */
const SPREAD = 26

export function diagramOf(dataClasses: readonly DataClass[], withAttributes: boolean): Diagram {
  const relations = relationsOf(dataClasses)
  const contents = dataClasses.map(dataClass => {
    const scalars = dataClass.attributes.filter(each => !isRelation(each))
    const first = scalars.toSorted((a, b) => Number(b.identifying ?? false) - Number(a.identifying ?? false))
    // "1 more" would take the place of an attribute that can be listed.
    const listedAttributes = withAttributes
      ? first.slice(0, first.length === MAX_ATTRIBUTES + 1 ? undefined : MAX_ATTRIBUTES)
      : []
    const more = withAttributes ? first.length - listedAttributes.length : 0
    const rows = listedAttributes.length + (more > 0 ? 1 : 0)
    const width = withAttributes ? WIDTH : Math.max(80, 24 + dataClass.name.length * LETTER)
    return { dataClass, attributes: listedAttributes, more, width, height: HEAD + rows * ROW + (rows > 0 ? 8 : 0) }
  })
  const position = new Map(dataClasses.map(({ name }, i) => [name, i]))
  const { places, width, height } = layOut(
    contents,
    relations.map(({ from, to }) => [position.get(from.name)!, position.get(to.name)!]),
  )
  const boxes = contents.map((content, i) => ({ ...content, ...places[i]! }))
  const byName = new Map(boxes.map(box => [box.dataClass.name, box]))
  return { boxes, lines: linesOf(relations, byName), width, height }
}

function linesOf(relations: readonly Relation[], boxes: ReadonlyMap<string, Box>): Line[] {
  const pairs = new Map<string, Relation[]>()
  for (const relation of relations) {
    const names = [relation.from.name, relation.to.name].sort().join(' ')
    pairs.set(names, [...(pairs.get(names) ?? []), relation])
  }
  return [...pairs.values()].flatMap(pair =>
    pair.map((relation, i) => {
      const [from, to] = [boxes.get(relation.from.name)!, boxes.get(relation.to.name)!]
      if (from === to) return loop(relation, from, i)
      const offset = (i - (pair.length - 1) / 2) * SPREAD
      return straight(relation, from, to, from.dataClass.name < to.dataClass.name ? offset : -offset)
    }),
  )
}

/** A line between the borders of two boxes, shifted sideways by `offset`. */
function straight(relation: Relation, from: Box, to: Box, offset: number): Line {
  const [a, b] = [centreOf(from), centreOf(to)]
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1
  const [sideX, sideY] = [(-(b.y - a.y) / length) * offset, ((b.x - a.x) / length) * offset]
  const start = borderOf(from, { x: a.x + sideX, y: a.y + sideY }, { x: b.x + sideX, y: b.y + sideY })
  const end = borderOf(to, { x: b.x + sideX, y: b.y + sideY }, { x: a.x + sideX, y: a.y + sideY })
  return {
    relation,
    path: `M${round(start.x)} ${round(start.y)}L${round(end.x)} ${round(end.y)}`,
    x: round((start.x + end.x) / 2),
    y: round((start.y + end.y) / 2),
  }
}

/** A line from a box back to itself, at its upper right corner. */
function loop(relation: Relation, { x, y, width }: Box, index: number): Line {
  const [right, size] = [x + width, 22 + index * 14]
  return {
    relation,
    path: `M${round(right - 24)} ${round(y)}C${round(right - 24)} ${round(y - size * 1.6)} ${round(right + size * 1.6)} ${round(y - size * 0.4)} ${round(right)} ${round(y + 16)}`,
    x: round(right + size * 0.5),
    y: round(y - size),
  }
}

const round = (value: number): number => Math.round(value * 10) / 10
const centreOf = ({ x, y, width, height }: Box) => ({ x: x + width / 2, y: y + height / 2 })

/** Intersection of the border of a box and the line from a point inside to another point. */
function borderOf({ x, y, width, height }: Box, inside: { x: number; y: number }, to: { x: number; y: number }) {
  const [dx, dy] = [to.x - inside.x, to.y - inside.y]
  const alongX = dx === 0 ? Number.POSITIVE_INFINITY : ((dx > 0 ? x + width : x) - inside.x) / dx
  const alongY = dy === 0 ? Number.POSITIVE_INFINITY : ((dy > 0 ? y + height : y) - inside.y) / dy
  const share = Math.max(0, Math.min(1, alongX, alongY))
  return { x: inside.x + dx * share, y: inside.y + dy * share }
}

/** Dataclasses whose names contain a text, then those with an attribute whose name does. */
export function matchClasses(dataClasses: readonly DataClass[], searchText: string): DataClass[] {
  const text = searchText.trim().toLowerCase()
  const has = ({ name }: { readonly name: string }): boolean => name.toLowerCase().includes(text)
  const [namedClasses, otherClasses] = [dataClasses.filter(has), dataClasses.filter(each => !has(each))]
  return [...namedClasses, ...otherClasses.filter(({ attributes }) => attributes.some(has))]
}
