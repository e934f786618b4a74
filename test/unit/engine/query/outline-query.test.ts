/** Descriptions of reads for the log: what is in this store is planned, the rest is described by its texts. */
import t from 'tap'
import { publicView } from '../../../../engine/catalog/view.ts'
import { type Needs, Suspended } from '../../../../engine/data/suspended.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import type { QueryLimits } from '../../../../engine/query/contract/query-limits.ts'
import type { ReadRequest } from '../../../../engine/query/contract/request.ts'
import { TEXT_LIMITS } from '../../../../engine/query/parse/limits.ts'
import { QueryCache } from '../../../../engine/query/plan/query-cache.ts'
import { outlineQuery } from '../../../../engine/query/tasks/outline-query.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { STAFF, staffCatalog } from '../../../support/fixtures/staff.ts'

const catalog = staffCatalog()
const request: ReadRequest = {
  dataClass: 'Employee',
  source: { kind: 'all' },
  filter: 'salary > 5',
  orderBy: 'salary',
  skip: 0,
  top: 10,
  output: { form: 'collection' },
}
const outlineOn = (snapshot: Snapshot, read = request) =>
  outlineQuery(read, publicView(catalog), snapshot, new QueryCache(TEXT_LIMITS), TEXT_LIMITS as QueryLimits)
const needing = (needs: Needs): Snapshot => ({
  ...fakeStore(catalog, STAFF),
  table: () => {
    throw new Suspended(needs)
  },
})
const NOT_FOUND = { httpStatus: 404 } as unknown as Error
const texts = { filter: 'salary > ?', orderBy: 'salary' }

t.test('a read of this store has its plan', async t => {
  t.match(outlineOn(fakeStore(catalog, STAFF)), { ...texts, plan: String })
})

t.test('a read of entities elsewhere has its texts', async t => {
  t.strictSame(outlineOn(needing({ kind: 'entities', dataClass: 'Employee' })), texts)
})

t.test('anything else that it needs, and an invalid text, is an error', async t => {
  t.throws(() => outlineOn(needing({ kind: 'code' })), Suspended)
  t.throws(() => outlineOn(fakeStore(catalog, STAFF), { ...request, filter: 'nothing = 1' }), NOT_FOUND)
})
