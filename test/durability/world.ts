import { checkModel } from '../../engine/catalog/check-model.ts'
import type { EntitySetHeader } from '../../engine/entity-set/entity-set-header.ts'
import { decodeMembers, type RowMembers, setOf } from '../../engine/entity-set/members.ts'
import { type Engine, type EngineOptions, openEngine } from '../../engine/index.ts'
import { createSharedMemory } from '../../engine/memory/heap/shared-heap.ts'
import { checkStore } from '../../engine/storage/inspect/check-store.ts'
import { EntitySetTable } from '../../engine/storage/entity-set-table.ts'
import { type Environment, openEnvironment } from '../../engine/storage/environment.ts'
import { recoverIfUnused } from '../../engine/storage/recover-store.ts'
import { idOfSetKey } from '../../engine/storage/keys.ts'
import { prepareStore } from '../../engine/storage/migration/prepare-store.ts'
import { RowView } from '../../engine/row-format/row-view.ts'
import { tableRows } from '../../engine/storage/table-rows.ts'
import type { SaveRequest } from '../../engine/write/contract/requests.ts'
import { engineOptions } from '../support/engine/engine-options.ts'

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

/** Options of a store, in a process that was started with `withLog` with a log in front of it. */
export const options = (path: string): EngineOptions =>
  engineOptions({ path, model, log: process.env.TESSER_TEST_LOG ? {} : undefined })

/** Environment of a process with or without a log. */
export const withLog = (isLogged: boolean): NodeJS.ProcessEnv => ({
  ...process.env,
  TESSER_TEST_LOG: isLogged ? '1' : '',
})

/** Options with which images of the memory are written continuously. */
export const withImages = () => ({ memory: createSharedMemory(2 ** 27), imageMinutes: 1e-4, imageChanges: 1 })

export const city = (body: object): SaveRequest => ({
  kind: 'save',
  dataClass: 'City',
  body: Buffer.from(JSON.stringify(body)),
  mode: 'update',
  atomic: false,
})

/** Number of cities in a large save, whose body is beyond what the writer reads as a whole. */
export const CITIES = 4_000

export const cityName = (save: string, index: number): string => `${save} ${index} ${'of a large save '.repeat(8)}`

/** The same store behind an engine, which keeps entity sets. */
export const openWorld = (path: string): Promise<Engine> => openEngine(options(path))

/** Content of a store that has no writers. */
export interface Survey {
  /** Stamp of each city by its name. */
  stamps: Map<string, number>
  /** Number of members of each live entity set, by its id. */
  sets: Map<string, number>
  problems: string[]
}

export async function survey(path: string): Promise<Survey> {
  await recoverIfUnused(options(path), () => {})
  const environment = openEnvironment(options(path))
  const { catalog, layouts } = prepareStore({ ...options(path), model: checkModel(model), environment })
  const dataClass = catalog.dataClassesByName.get('City')!
  const rows = [...tableRows(environment, dataClass.tableNumber)].map(
    ({ bytes }) => new RowView(layouts.get(dataClass)!, bytes),
  )
  const found = {
    stamps: new Map(rows.map(row => [row.key, row.stamp])),
    sets: livingSets(environment),
    problems: [...checkStore(environment, catalog, layouts)],
  }
  await environment.close()
  return found
}

function livingSets(environment: Environment): Map<string, number> {
  const sets = new Map<string, number>()
  for (const { key, value } of environment.entitySets.getRange({ start: Buffer.of(0), end: Buffer.of(1) })) {
    const id = idOfSetKey(key)
    const header = JSON.parse(value.toString()) as EntitySetHeader
    if (!header.hasEnded)
      sets.set(id, setOf(decodeMembers(new EntitySetTable(environment).members(id)) as RowMembers).size)
  }
  return sets
}
