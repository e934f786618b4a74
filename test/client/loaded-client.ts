/** Clients that a server has sent, and a model with exact numbers and vectors for them. */
import type { Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import type { TestServer } from '../support/servers/test-server.ts'
import { loadModule, writeProject } from '../support/clients/typed-client.ts'

export const fixture = {
  model: {
    ...company.model,
    dataClasses: {
      ...(company.model as { dataClasses: object }).dataClasses,
      Price: {
        key: 'ID',
        attributes: {
          ID: { type: 'long64', autoFill: 'increment' },
          amount: { type: 'decimal', scale: 2 },
          text: { type: 'decimal', scale: 3, asText: true },
          note: { type: 'string' },
          uri: { type: 'string' },
          places: { kind: 'relatedEntities', type: 'PlaceSelection', inverseName: 'price' },
        },
      },
      Place: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          name: { type: 'string' },
          vector: { type: 'vector', dimension: 2, metric: 'cosine' },
          priceID: { type: 'long64' },
          price: { kind: 'relatedEntity', type: 'Price', foreignKey: 'priceID', inverseName: 'places' },
        },
      },
    },
  },
  rows: {
    ...company.rows,
    Price: [
      { ID: 1, amount: '12.50', text: '0.100', note: 'a:12345678901234567890,"', uri: 'mine' },
      { ID: '9007199254740993', amount: '1234567890123456.89', text: '-3.000', note: '\u0000n12345678901234567890' },
    ],
    Place: [
      { ID: 1, name: 'east', vector: [1, 0], priceID: '9007199254740993' },
      { ID: 2, name: 'north', vector: [0, 1] },
      { ID: 3, name: 'north-east', vector: [1, 1] },
    ],
  },
}

// biome-ignore lint/suspicious/noExplicitAny: clients of all models
export type Db = any
// biome-ignore lint/suspicious/noExplicitAny: the module of a client
type Module = any

/** The client that a server sends in answer to a request, as a module. */
export async function moduleOf(
  t: Test,
  server: TestServer,
  query = '',
  headers?: Record<string, string>,
): Promise<Module> {
  const { status, text } = await server.get(`/$client${query}`, headers)
  t.equal(status, 200)
  const folder = t.testdir()
  writeProject(folder, { 'client.ts': text })
  return loadModule(folder, 'client.ts')
}

export const failed = (promise: Promise<unknown>): Promise<Db> =>
  promise.then(
    value => ({ value }),
    error => error,
  )
export const names = (rows: readonly Db[]): unknown[] => rows.map(row => row.lastName ?? row.name)
