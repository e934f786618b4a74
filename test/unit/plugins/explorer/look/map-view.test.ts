import t from 'tap'
import {
  areaBetween,
  coordinatesOf,
  degreesBetween,
  enlargeView,
  type GeoPoint,
  latitudeAt,
  longitudeAt,
  moveView,
  nearest,
  viewOf,
  xOf,
  yOf,
} from '../../../../../plugins/explorer/page/look/map-view.ts'
import type { Attribute } from '../../../../../plugins/explorer/page/base/model.ts'
import fc from '../../../../support/runner/fast-check.ts'

const size = { width: 900, height: 480 }
const point = fc.record({
  key: fc.uuid(),
  latitude: fc.double({ min: -85, max: 85, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})
const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a))

t.test('all points are in the first view, and pixels lead back to degrees', async () => {
  fc.assert(
    fc.property(fc.array(point, { minLength: 1, maxLength: 50 }), points => {
      const view = viewOf(points, size)
      for (const { latitude, longitude } of points) {
        const [x, y] = [xOf(view, size, longitude), yOf(view, size, latitude)]
        t.ok(x >= 0 && x <= size.width && y >= 0 && y <= size.height)
        t.ok(near(longitudeAt(view, size, x), longitude) && near(latitudeAt(view, size, y), latitude))
      }
    }),
    { numRuns: 30 },
  )
})

t.test('the point below the pointer stays there when the map is enlargeView, and moves with the map', async t => {
  const view = viewOf([], size)
  const larger = enlargeView(view, size, 4, 100, 50)
  t.ok(near(longitudeAt(larger, size, 100), longitudeAt(view, size, 100)))
  t.ok(near(latitudeAt(larger, size, 50), latitudeAt(view, size, 50)))
  const further = moveView(view, 30, -20)
  t.ok(near(longitudeAt(further, size, 100), longitudeAt(view, size, 130)))
  t.ok(near(latitudeAt(further, size, 100), latitudeAt(view, size, 80)))
})

t.test('the nearest point', async t => {
  const points: GeoPoint[] = [
    { key: 'a', latitude: 10, longitude: 10 },
    { key: 'b', latitude: 11, longitude: 10 },
  ]
  const view = viewOf(points, size)
  const [x, y] = [xOf(view, size, 10), yOf(view, size, 11)]
  t.equal(nearest(points, view, size, x + 3, y + 3, 9)?.key, 'b')
  t.equal(nearest(points, view, size, x + 30, y, 9), undefined)
})

t.test('a rectangle is an area, whichever corner was first', async t => {
  const view = viewOf([], size)
  t.same(areaBetween(view, size, [10, 20], [100, 200]), areaBetween(view, size, [100, 200], [10, 20]))
  const { south, north, west, east } = areaBetween(view, size, [10, 200], [100, 20])
  t.ok(south < north && west < east)
})

t.test('lines of whole degrees', async t => {
  t.same(degreesBetween(-25, 25, 20), [-20, 0, 20])
  t.same(degreesBetween(1, 2, 5), [])
  t.same(degreesBetween(0.1, 0.3, 0.1), [0.1, 0.2, 0.3], 'in spite of rounding')
})

t.test('latitude and longitude are recognised by their names', async t => {
  const numbers = (...names: string[]): Attribute[] => names.map(name => ({ name, kind: 'storage', type: 'number' }))
  t.same(coordinatesOf(numbers('size', 'latitude', 'longitude')), { latitude: 'latitude', longitude: 'longitude' })
  t.same(coordinatesOf(numbers('startLat', 'endLng', 'startLng')), { latitude: 'startLat', longitude: 'startLng' })
  t.equal(coordinatesOf(numbers('lat', 'size')), undefined)
  t.equal(coordinatesOf([{ ...numbers('lat')[0]!, maxValue: 1000 }, ...numbers('lon')]), undefined)
})
