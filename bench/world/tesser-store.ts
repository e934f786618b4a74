import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import { type Engine, openEngine } from '../../engine/index.ts'
import { engineOptions } from '../../kernel/main.ts'
import { MODEL } from './model.ts'
import type { World } from './world.ts'

const BATCH_ROWS = 10_000
const CONFIG_FILE = 'tesser.config.json'

/** The configuration of `tesser start` in the folder of a world, on a free port. */
export const worldConfig = (folder: string) => loadConfig({ file: join(folder, CONFIG_FILE), env: {}, flags: {} })

/** The engine on the store of a world, without a server. */
export const openWorld = (folder: string): Promise<Engine> => openEngine(engineOptions(worldConfig(folder)))

/** Writes the config, the model and the store. */
export async function makeTesserStore(folder: string, world: World, onProgress: (rows: number) => void): Promise<void> {
  writeFileSync(join(folder, 'model.json'), JSON.stringify(MODEL))
  writeFileSync(
    join(folder, CONFIG_FILE),
    JSON.stringify({ model: 'model.json', data: 'store', server: { port: 0 }, log: { level: 'error' } }),
  )
  const engine = await openWorld(folder)
  try {
    await insert(
      engine,
      'Company',
      world.companies,
      row => world.company(row),
      () => {},
    )
    await insert(engine, 'Employee', world.employees, row => world.employee(row), onProgress)
  } finally {
    await engine.close()
  }
}

/** Inserts rows in batches: while one batch is written, the next is prepared. */
export async function insert(
  engine: Engine,
  dataClass: string,
  count: number,
  entity: (row: number) => object,
  onProgress: (rows: number) => void,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  for (let start = 0; start < count; start += BATCH_ROWS) {
    const rows = Array.from({ length: Math.min(BATCH_ROWS, count - start) }, (_, i) => entity(start + i))
    const body = Buffer.from(JSON.stringify(rows))
    await writing
    onProgress(start)
    writing = save(engine, dataClass, body)
  }
  await writing
}

async function save(engine: Engine, dataClass: string, body: Uint8Array): Promise<void> {
  const { entities } = await engine.saves.write({
    kind: 'save',
    dataClass,
    body,
    mode: 'update',
    atomic: false,
    trusted: true,
  })
  const failure = entities.find(entity => entity.failure)?.failure
  if (failure) throw new Error(`a row of ${dataClass} was refused: ${JSON.stringify(failure.error.entries)}`)
}
