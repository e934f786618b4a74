import t from 'tap'
import { findEntries, keyedEntry } from '../../../../plugins/explorer/page/home/match.ts'

const entry = (title: string) => ({ title, kind: 'Class', link: `#/${title}` })
const entries = ['Country', 'City', 'Province', 'Movie set', 'Capacity'].map(entry)
const titles = (text: string): string[] => findEntries(entries, text).map(({ title }) => title)

t.test('the palette finds titles by beginnings, words, parts, and letters in order', t => {
  t.same(titles(''), ['Country', 'City', 'Province', 'Movie set', 'Capacity'])
  t.equal(titles('ci')[0], 'City')
  t.same(titles('set'), ['Movie set'])
  t.same(titles('cty'), ['Country', 'City', 'Capacity'])
  t.same(titles('xyz'), [])
  t.end()
})

t.test('a class and a key name an entity', t => {
  t.same(keyedEntry('city 12', ['City']), { dataClass: 'City', key: '12' })
  t.same(keyedEntry(' City  New York ', ['City']), { dataClass: 'City', key: 'New York' })
  t.equal(keyedEntry('Town 12', ['City']), undefined)
  t.equal(keyedEntry('City', ['City']), undefined)
  t.equal(keyedEntry('City ', ['City']), undefined)
  t.end()
})
