/** Filters at their limits: long chains, patterns, words and numbers of many digits. */
import t from 'tap'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { STAFF, staffCatalog } from '../../../support/fixtures/staff.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

t.test('a chain of changing conjunctions ends in an error, not on the stack', async t => {
  const catalog = staffCatalog()
  const store = fakeStore(catalog, STAFF)
  const chain = Array.from({ length: 1_999 }, (_, i) => `age = ${i} ${i % 2 ? 'and' : 'or'}`).join(' ')
  t.throws(() => runQuery(catalog, store, { filter: `${chain} age = 1` }), { message: /changes more than 400 times/ })
  const changing = (words: string[], count: number) =>
    `age = 0 ${Array.from({ length: count + 1 }, (_, i) => `${words[i % 2]} age = ${i}`).join(' ')}`
  const find = (filter: string) => () => runQuery(catalog, store, { filter })
  t.doesNotThrow(find(changing(['and', 'or'], 400)))
  t.throws(find(changing(['and', 'or'], 401)), { message: /changes more than 400 times/ })
  t.throws(find(changing(['except', 'or'], 401)), { message: /changes more than 400 times/ })
  const longRun = Array.from({ length: 1_999 }, (_, i) => `age = ${i} or`).join(' ')
  t.same([...runQuery(catalog, store, { filter: `${longRun} age = 1` }).rowIds], [0, 1, 2, 5])
})

t.test('a wildcard pattern that would blow up a backtracking matcher is answered', async t => {
  const catalog = staffCatalog()
  const store = fakeStore(catalog, { Employee: [{ ID: 1, note: 'a'.repeat(5_000) }] })
  t.equal(runQuery(catalog, store, { filter: `note = "${'a@'.repeat(999)}b"` }).count, 0)
  t.equal(
    runQuery(catalog, store, { filter: `note = "${'a@@@@@@@@@@'.repeat(999)}a"` }).count,
    1,
    'runs are one wildcard',
  )
})

t.test('wildcards and words beyond the limits are refused, and the message names the option', async t => {
  const catalog = staffCatalog()
  const store = fakeStore(catalog, { Employee: [{ ID: 1, note: 'a' }] })
  const parts = { name: 'QUERY.PATTERN', message: /1000 parts.*query\.maxPatternParts/ }
  const length = { name: 'QUERY.PATTERN', message: /1001 characters.*query\.maxPatternLength/ }
  const refused = (expected: { name: string; message: RegExp }, filter: string, ...params: unknown[]) =>
    t.throws(() => runQuery(catalog, store, { filter, params }), expected, filter.slice(0, 40))
  refused(parts, 'note = :1', 'a@'.repeat(1_000))
  refused(parts, 'note = :1', `@${'a@'.repeat(1_000_000)}`)
  refused(parts, 'note != :1', 'a@'.repeat(1_000))
  refused(parts, 'note begin :1', 'a@'.repeat(1_000))
  refused(parts, 'note % :1', 'a '.repeat(1_001))
  refused(parts, 'note % :1', 'a@'.repeat(1_000))
  refused(parts, 'note in :1', Array(501).fill('a@'))
  refused(parts, `note = "${'a@'.repeat(1_000)}"`)
  refused(parts, 'info.note = :1', 'a@'.repeat(1_000))
  refused(length, 'note = :1', `@${'a'.repeat(1_001)}@`)
  for (const value of [`${'a'.repeat(5_000)}@`, `@${'a'.repeat(5_000)}`, 'a'.repeat(5_000), `@${'a'.repeat(1_000)}@`]) {
    t.equal(runQuery(catalog, store, { filter: 'note = :1', params: [value] }).count, 0)
  }
})

t.test('a number of too many digits is not accepted as a number', async t => {
  const catalog = staffCatalog()
  const store = fakeStore(catalog, { Employee: [{ ID: 1 }] })
  const find = (value: string) => () => runQuery(catalog, store, { filter: 'ID = :1', params: [value] })
  t.throws(find('1'.repeat(1_000_000)), { name: 'QUERY.PLACEHOLDER_TYPE' })
  t.throws(find(`1.${'0'.repeat(1_000_000)}`), { name: 'QUERY.PLACEHOLDER_TYPE' })
  t.equal(find(`1.${'0'.repeat(500)}`)().count, 1)
})
