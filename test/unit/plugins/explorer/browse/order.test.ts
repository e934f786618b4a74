import t from 'tap'
import { formatOrder, orderBy, parseOrder } from '../../../../../plugins/explorer/page/browse/order.ts'

t.test('clicks on columns change the order', async t => {
  const click = (order: string, path: string, isAdded = false) => formatOrder(orderBy(parseOrder(order), path, isAdded))
  t.equal(click('', 'name'), 'name')
  t.equal(click('name', 'name'), 'name desc')
  t.equal(click('name DESC', 'name'), '')
  t.equal(click('name desc, area', 'country.name'), 'country.name')
  t.equal(click('name', 'area', true), 'name, area')
  t.equal(click('name asc,area', 'name', true), 'name desc, area')
  t.equal(click('name desc, area', 'name', true), 'area')
})
