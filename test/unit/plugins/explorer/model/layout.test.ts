import t from 'tap'
import { layOut, type Size } from '../../../../../plugins/explorer/page/model/layout.ts'
import { relationsOf } from '../../../../../plugins/explorer/page/model/relations.ts'
import type { Attribute, DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import fc from '../../../../support/runner/fast-check.ts'

type Line = [number, number]

/** Boxes that overlap another one or are outside of the picture. */
function wrongPlaces(boxes: readonly Size[], lines: readonly Line[]): string[] {
  const { places, width, height } = layOut(boxes, lines)
  return places.flatMap(({ x, y }, i) => {
    const { width: w, height: h } = boxes[i]!
    const isOutside = !(x >= -0.01 && y >= -0.01 && x + w <= width + 0.01 && y + h <= height + 0.01)
    const other = places.findIndex(
      (place, j) =>
        j > i && place.x < x + w && x < place.x + boxes[j]!.width && place.y < y + h && y < place.y + boxes[j]!.height,
    )
    return [...(isOutside ? [`${i} is outside`] : []), ...(other >= 0 ? [`${i} overlaps ${other}`] : [])]
  })
}

const graph = fc.integer({ min: 1, max: 24 }).chain(count =>
  fc.record({
    boxes: fc.array(fc.record({ width: fc.constant(190), height: fc.integer({ min: 30, max: 200 }) }), {
      minLength: count,
      maxLength: count,
    }),
    lines: fc.array(fc.tuple(fc.nat({ max: count - 1 }), fc.nat({ max: count - 1 })), { maxLength: 2 * count }),
  }),
)

t.test('boxes do not overlap, and the picture holds all of them', async () => {
  fc.assert(
    fc.property(graph, ({ boxes, lines }) => {
      t.same(wrongPlaces(boxes, lines), [])
    }),
  )
})

t.test('200 classes', async t => {
  const boxes = Array.from({ length: 200 }, (_, i) => ({ width: 190, height: 40 + (i % 8) * 20 }))
  const lines = Array.from({ length: 300 }, (_, i): Line => [(i * 7) % 190, (i * 31 + 11) % 190])
  t.same(wrongPlaces(boxes, lines), [])
  t.same(layOut(boxes, lines), layOut(boxes, lines), 'the same places each time')
})

t.test('boxes that are joined by a line are nearer than others', async t => {
  const boxes = Array.from({ length: 6 }, () => ({ width: 100, height: 40 }))
  const { places } = layOut(
    boxes,
    [0, 1, 2, 3, 4].map(i => [i, i + 1]),
  )
  const distance = (a: number, b: number): number =>
    Math.hypot(places[a]!.x - places[b]!.x, places[a]!.y - places[b]!.y)
  t.ok(distance(0, 1) < distance(0, 3))
  t.ok(distance(0, 3) < distance(0, 5))
})

t.test('no boxes', async t => {
  t.same(layOut([], []).places, [])
})

const dataClass = (name: string, attributes: Attribute[]): DataClass => ({
  name,
  collectionName: `${name}Selection`,
  attributes,
  key: [],
})
const toOne = (name: string, type: string, inverseName?: string): Attribute => ({
  name,
  kind: 'relatedEntity',
  type,
  ...(inverseName && { inverseName }),
})
const toMany = (name: string, type: string, inverseName: string): Attribute => ({
  name,
  kind: 'relatedEntities',
  type: `${type}Selection`,
  inverseName,
})

t.test('an attribute and its inverse are one relation', async t => {
  const classes = [
    dataClass('Company', [toMany('staff', 'Employee', 'employer'), toMany('seen', 'Visit', 'hidden')]),
    dataClass('Employee', [toOne('employer', 'Company', 'staff'), toOne('boss', 'Employee'), toOne('car', 'Hidden')]),
    dataClass('Visit', []),
  ]
  t.same(
    relationsOf(classes).map(({ from, to, name, inverse, isToMany }) => [from.name, to.name, name, inverse, isToMany]),
    [
      ['Company', 'Visit', 'seen', undefined, true],
      ['Employee', 'Company', 'employer', 'staff', false],
      ['Employee', 'Employee', 'boss', undefined, false],
    ],
  )
})
