/** Results that a query receives from an index of another thread. */
import t from 'tap'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import {
  decodeFound,
  encodeFound,
  type Found,
  type Searched,
  searchIn,
} from '../../../../engine/vector/index/searched-indexes.ts'
import { needsOf } from '../../../../engine/data/suspended.ts'
import type { VectorIndex } from '../../../../engine/data/vector-index.ts'

const STAMP = 7
const vector = Float32Array.of(1, 2)
const attribute = { name: 'embedding', dataClass: { name: 'Item' } } as StorageAttribute
const status: VectorIndex = { metric: 'cosine', cost: count => count }
const found: Found = {
  near: [5, 3, 9],
  bounds: Float64Array.of(0.9, 1, 0.7, 0.8, 0.5, 0.6),
  unknown: [11],
  stamp: STAMP,
}
const search = { dataClass: 'Item', attribute: 'embedding', vector, count: 3 }

function indexOf(searched: readonly Searched[], stamp = STAMP, isKnown = true) {
  const snapshot = { globalStamp: stamp } as Snapshot
  searchIn(snapshot, { find: () => (isKnown ? status : undefined), neededCounts: new Map() }, searched)
  return snapshot.vectorIndexes!.find(attribute)
}

t.test('found rows reach another thread unchanged', async t => {
  for (const each of [found, { ...found, bounds: undefined }, { ...found, near: [], bounds: undefined }, undefined]) {
    t.strictSame(decodeFound(encodeFound(each)), each)
  }
})

t.test('a query without a result names the search that it needs', async t => {
  const ask = (searched: readonly Searched[], of = vector, count = 3) => {
    try {
      indexOf(searched)!.nearest!(of, count)
    } catch (error) {
      const needs = needsOf(error)
      return needs?.kind === 'searches' ? needs.searches[0] : error
    }
    return 'nothing'
  }
  const searched = [{ ...search, found }]
  t.strictSame(ask([]), search, 'at first')
  t.strictSame(ask(searched, Float32Array.of(1, 3)), { ...search, vector: Float32Array.of(1, 3) }, 'another vector')
  t.strictSame(ask([{ ...search, attribute: 'other', found }]), search, 'another attribute')
  t.strictSame(ask([{ ...search, dataClass: 'Other', found }]), search, 'another dataclass')
  t.strictSame(ask(searched, vector, 4), { ...search, count: 4 }, 'more')
  t.equal(ask(searched), 'nothing')
})

t.test('a query receives the result, or its first rows', async t => {
  const index = indexOf([{ ...search, found }])!
  t.same(index.nearest!(vector, 3), { near: [5, 3, 9], bounds: found.bounds, unknown: [11] })
  t.same(index.nearest!(vector.slice(), 2), { near: [5, 3], bounds: found.bounds!.slice(0, 4), unknown: [11] })
})

t.test('scores of another state are not known', async t => {
  const index = indexOf([{ ...search, found }], STAMP + 1)!
  t.same(index.nearest!(vector, 3), { near: [5, 3, 9], bounds: undefined, unknown: [11] })
})

t.test('there is no index if it cannot be used', async t => {
  t.equal(indexOf([{ ...search, found: undefined }]), undefined, 'as the search found')
  t.equal(indexOf([{ ...search, found }], STAMP, false), undefined, 'by its current status')
  t.equal(indexOf(new Array(32).fill({ ...search, found })), undefined, 'after many searches')
  const snapshot = { globalStamp: STAMP } as Snapshot
  searchIn(snapshot, undefined, [])
  t.equal(snapshot.vectorIndexes, undefined, 'as the model says')
})
