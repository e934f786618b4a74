import t from 'tap'
import type { DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import {
  columnsWithoutScore,
  columnsWithScore,
  filterByMeaning,
  hasScore,
  meaningsOf,
} from '../../../../../plugins/explorer/page/find/meaning.ts'

const passage: DataClass = {
  name: 'Passage',
  collectionName: 'PassageSelection',
  key: [{ name: 'ID' }],
  attributes: [
    { name: 'ID', kind: 'storage', type: 'long', identifying: true },
    { name: 'title', kind: 'storage', type: 'string' },
    { name: 'embedding', kind: 'storage', type: 'object', dimension: 3 },
    { name: 'about', kind: 'calculated', type: 'string' },
    { name: 'length', kind: 'calculated', type: 'long' },
  ],
}
const [, , , about] = passage.attributes

t.test('attributes that may take a sentence', async t => {
  t.strictSame(meaningsOf(passage), [about])
  t.strictSame(meaningsOf({ ...passage, attributes: [about!] }), [])
})

t.test('a sentence replaces an earlier one, and other conditions are kept', async t => {
  t.equal(filterByMeaning('', about!, 'cold "wind"'), `about = 'cold "wind"'`)
  t.equal(filterByMeaning('about = "x"', about!, 'y'), 'about = "y"')
  t.equal(filterByMeaning('title = a and about = "x" order by ID', about!, 'y'), 'title = a and about = "y"')
  t.equal(filterByMeaning('title = a or ID = 1', about!, 'y'), '(title = a or ID = 1) and about = "y"')
})

t.test('columns', async t => {
  t.ok(hasScore('title = x and about = y', passage))
  t.ok(hasScore('embedding > :1', passage))
  t.notOk(hasScore('title = "about"', passage))
  t.equal(columnsWithScore(undefined, passage), 'title,__SCORE,ID')
  t.equal(columnsWithScore('ID:50', passage), '__SCORE,ID:50')
  t.equal(columnsWithScore('ID,__SCORE:90', passage), 'ID,__SCORE:90')
  t.equal(columnsWithoutScore('ID,__SCORE:90,title'), 'ID,title')
  t.equal(columnsWithoutScore(undefined), undefined)
})
