import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { openDatabase } from '../world/sqlite-database.ts'
import { readRoutes } from './read-routes.ts'
import { writeRoutes } from './write-routes.ts'

export const BODY_LIMIT = 64 * 1024 * 1024

/** Server that a good developer could write in a day for just these questions: Fastify, SQLite, no query language, no checks. */
export async function startBaseline(folder: string): Promise<{ port: number; close(): Promise<void> }> {
  const database = openDatabase(folder)
  let globalStamp = database.prepare<[], number>('SELECT max(ID) FROM Employee').pluck().get()!
  const app = fastify({ bodyLimit: BODY_LIMIT })
  readRoutes(app, { database, globalStamp: () => globalStamp })
  writeRoutes(app, {
    database,
    onChange: entities => {
      globalStamp += entities
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: (app.server.address() as AddressInfo).port,
    close: async () => {
      await app.close()
      database.close()
    },
  }
}
