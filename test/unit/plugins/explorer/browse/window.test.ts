import t from 'tap'
import type { Attribute, DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import { columnOf } from '../../../../../plugins/explorer/page/browse/columns.ts'
import { pageRowsOf, visibleColumns } from '../../../../../plugins/explorer/page/browse/window.ts'

const wide = (attribute: (at: number) => Partial<Attribute>): DataClass => ({
  name: 'Wide',
  collectionName: 'WideSelection',
  key: [],
  attributes: Array.from({ length: 500 }, (_, at) => ({
    name: `a${at}`,
    kind: 'storage',
    type: 'long',
    ...attribute(at),
  })),
})
const columnsOf = (dataClass: DataClass) =>
  dataClass.attributes.map(({ name }) => columnOf(name, dataClass, () => undefined, 100)!)

t.test('only columns in view are rendered', async t => {
  const columns = columnsOf(wide(() => ({})))
  const { first, left, columns: shown } = visibleColumns(columns, 10_050, 1_000)
  t.equal(first, 98)
  t.equal(left, 9_800)
  t.equal(shown.length, 15)
  t.same(visibleColumns(columns.slice(0, 10), 500, 100), { first: 0, left: 0, columns: columns.slice(0, 10) })
  t.equal(visibleColumns(columns, 1e9, 1_000).columns.at(-1), columns.at(-1))
})

t.test('pages have fewer rows if rows are larger', async t => {
  const rows = (attribute: Partial<Attribute>) => pageRowsOf(columnsOf(wide(() => attribute)).slice(0, 10))
  t.equal(rows({ type: 'bool' }), 200)
  t.ok(rows({ type: 'object', dimension: 384 }) < 50)
  t.ok(rows({ type: 'string' }) < 50)
})
