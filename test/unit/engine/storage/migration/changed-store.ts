/** Stores of one model that are opened with another. */
import type { Test } from 'tap'
import { openTestStore, type TestStore } from '../../../../support/engine/test-store.ts'

export type Attributes = Record<string, object>
export const person = (attributes: Attributes, others: Record<string, Attributes> = {}) => ({
  name: 'm',
  dataClasses: {
    Person: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, ...attributes } },
    ...Object.fromEntries(Object.entries(others).map(([name, attributes]) => [name, { key: 'name', attributes }])),
  },
})

/** Fills a store of one model and opens it with another. */
export async function migrate(
  t: Test,
  before: object,
  after: object,
  fill: (store: TestStore) => void,
  options: { allowLoss?: boolean } = {},
): Promise<TestStore> {
  const path = t.testdir()
  const first = openTestStore(t, { path, model: before })
  fill(first)
  await first.close()
  return reopen(t, path, after, options)
}

export const reopen = async (
  t: Test,
  path: string,
  model: object,
  options: { allowLoss?: boolean } = {},
): Promise<TestStore> => openTestStore(t, { path, model, ...options })

export const three = (store: TestStore): void => void store.save('Person', [{ a: '1' }, { a: '2' }, { a: null }])
export const cities = { City: { name: { type: 'string' } } }
