/** Words without quotes in filters that are names of attributes. */
import t from 'tap'
import { TEXT_LIMITS } from '../../../../engine/query/parse/limits.ts'
import { QueryCache } from '../../../../engine/query/plan/query-cache.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { STAFF, staffCatalog } from '../../../support/fixtures/staff.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

t.test('§4.3.1 a bare word that names an attribute is not taken for a text', async t => {
  const catalog = staffCatalog()
  const store = fakeStore(catalog, STAFF)
  const queries = new QueryCache(TEXT_LIMITS)
  const find = (filter: string, params?: unknown) => runQuery(catalog, store, { filter, params, queries })
  const refused = [
    ['name = note', 'note'],
    ['name=note', 'note'],
    ['name != name', 'name'],
    ['name === note and age > 1', 'note'],
    ['age > 1 or not(note begin name)', 'name'],
    ['note % name', 'name'],
    ['name < employer.name', 'employer.name'],
    ['employer.name = name', 'name'],
    ['employerName = cityName', 'cityName'],
    ['tasks.title = name', 'name'],
    ['name = info.code', 'info.code'],
    ['info.code = name', 'name'],
    ['token = name', 'name'],
  ] as const
  // A shape that is known already is another way to the same condition.
  for (const round of ['first', 'known']) {
    for (const other of ['name = ada', 'name != ada', 'name === ada and age > 1']) find(other)
    for (const [filter, word] of refused)
      t.throws(
        () => find(filter),
        {
          name: 'QUERY.VALUE',
          message: new RegExp(`with the attribute "${word}"; .* quote it for the text: '${word}'$`),
        },
        `${filter}, ${round}`,
      )
  }
  const allowed = [
    'name = "note"',
    "name = 'note'",
    'name in [note,"ada"]',
    'name = Note',
    'name = note@',
    'name = notes',
    'name = note.x',
    'name = employer',
    'name = photo',
    'name = age',
    'name = born',
    'name = __KEY',
    'name = secret',
    'name = employer.secret',
    'name = title',
    'info.code = employer',
    'info.count = age',
    'name = ada.lovelace',
  ]
  for (const filter of allowed) t.equal(typeof find(filter).count, 'number', filter)
  t.equal(typeof find('name = :1', ['note']).count, 'number')
  t.throws(() => find('age > salary'), { name: 'QUERY.VALUE', message: /with "salary"; it takes a number$/ })
})
