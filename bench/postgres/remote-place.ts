import { makePlace } from '../own-server/place.ts'
import { MODEL } from '../world/model.ts'

/** Number of connections, the same as for the hand-written routes. */
const CONNECTIONS = 32
const STORAGE = { postgres: 'world', stamp: 'stamp', timestamp: 'timestamp' }

/** Folder with the configuration of our server for the tables of the world. @param url of their database */
export function remotePlace(url: string): string {
  const dataClasses = Object.entries(MODEL.dataClasses).map(([name, dataClass]) => [
    name,
    { ...dataClass, storage: STORAGE },
  ])
  const model = { ...MODEL, dataClasses: Object.fromEntries(dataClasses) }
  const connections = { world: { url, maxConnections: CONNECTIONS } }
  return makePlace(model, 'store', { connections }, 'remote')
}
