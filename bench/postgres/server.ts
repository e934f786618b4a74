import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { BODY_LIMIT } from '../baseline/server.ts'
import type { World } from '../world/world.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { fillDatabases, openPool } from './database.ts'
import { readRoutes } from './read-routes.ts'
import { writeRoutes } from './write-routes.ts'

/** Number of connections; more than two cores would need, because simultaneous commits are synced together. */
const CONNECTIONS = 32

/** The server of the baseline with PostgreSQL. */
export async function startPostgres(
  folder: string,
  world: World,
): Promise<{ port: number; cluster: Cluster; close(): Promise<void> }> {
  const cluster = await startCluster(folder)
  try {
    await fillDatabases(cluster, world)
  } catch (error) {
    await cluster.stop()
    throw error
  }
  const pool = openPool(cluster, CONNECTIONS)
  const app = fastify({ bodyLimit: BODY_LIMIT })
  let globalStamp = world.employees
  readRoutes(app, pool, () => globalStamp)
  writeRoutes(app, pool, entities => {
    globalStamp += entities
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: (app.server.address() as AddressInfo).port,
    cluster,
    close: async () => {
      await app.close()
      await pool.end()
      await cluster.stop()
    },
  }
}
