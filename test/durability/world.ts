import { createSharedMemory } from '../../engine/memory/shared-heap.ts'
import { checkStore } from '../../engine/storage/check-store.ts'
import { openEnvironment } from '../../engine/storage/environment.ts'
import { prepareStore } from '../../engine/storage/migrate.ts'
import { RowView } from '../../engine/storage/row-view.ts'
import { tableRows } from '../../engine/storage/table-rows.ts'
import type { SaveRequest } from '../../engine/write/requests.ts'
import type { WriterClientOptions } from '../../engine/write/writer-client.ts'

const model = {
  name: 'durability',
  dataClasses: {
    City: {
      key: 'name',
      attributes: {
        name: { type: 'string' },
        population: { type: 'long', indexed: true },
        twinName: { type: 'string' },
        twin: { kind: 'relatedEntity', type: 'City', foreignKey: 'twinName', onDelete: 'setNull' },
      },
    },
  },
}

export const options = (path: string): WriterClientOptions => ({
  path,
  mapSizeBytes: 2 ** 30,
  model,
  wire: { dateOnlyFormat: 'iso' },
  allowLoss: false,
})

/** Images of the memory are written all the time. */
export const withImages = () => ({ memory: createSharedMemory(2 ** 27), imageMinutes: 1e-4, imageChanges: 1 })

export const city = (body: object): SaveRequest => ({
  kind: 'save',
  dataClass: 'City',
  body: Buffer.from(JSON.stringify(body)),
  mode: 'update',
  atomic: false,
})

/** What is in a store that nobody writes to. */
export interface Survey {
  /** Stamp of each city by its name. */
  stamps: Map<string, number>
  problems: string[]
}

export async function survey(path: string): Promise<Survey> {
  const environment = openEnvironment(options(path))
  const owner = { token: 'survey', otherTokens: [] }
  const { catalog, layouts, release } = prepareStore({ ...options(path), environment, owner })
  const dataClass = catalog.dataClassesByName.get('City')!
  const rows = [...tableRows(environment, dataClass.tableNumber)].map(
    ({ bytes }) => new RowView(layouts.get(dataClass)!, bytes),
  )
  const found = {
    stamps: new Map(rows.map(row => [row.key, row.stamp])),
    problems: [...checkStore(environment, catalog, layouts)],
  }
  release()
  await environment.close()
  return found
}
