import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { quantity } from '../../engine/base/counted.ts'
import { loadRows, openRowFile, readBytes } from '../../engine/command-line.ts'
import { type Engine, openEngine } from '../../engine/index.ts'
import { engineOptions } from '../main.ts'

/** `config/demo/demo.json`: dataclasses with the files of their rows, in the order of loading. */
interface Demo {
  load: { dataClass: string; file: string }[]
}

/** Work of a start before it opens the store; undefined unless it serves the demo. */
export const preparation = (config: Config, log: Logger): (() => Promise<void>) | undefined =>
  config.demo ? () => loadDemo(config, line => log.info(line)) : undefined

/**
 * Fills the store of the demo at its first start, and again when there is more to load than its marker file in the data folder
 * lists. Existing rows are skipped, so that an interrupted load is completed.
 */
export async function loadDemo(config: Config, report: (line: string) => void): Promise<void> {
  const marker = join(config.data, 'demo-is-loaded')
  const folder = dirname(config.model)
  const path = join(folder, 'demo.json')
  const content = readFileSync(path, 'utf8')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === content) return
  report('loading the demo data, once')
  const engine = await openEngine({ ...engineOptions(config), memoryBytes: 0 })
  try {
    for (const { dataClass, file } of (readJsonFile(path, 'demo') as Demo).load) {
      report(`${dataClass}: ${quantity(await loadFile(engine, dataClass, join(folder, file)), 'entity', 'entities')}`)
    }
    writeFileSync(marker, content, { mode: 0o600 })
  } finally {
    await engine.close()
  }
}

async function loadFile(engine: Engine, name: string, path: string): Promise<number> {
  const dataClass = engine.catalog.dataClassesByName.get(name)!
  const { format, rows } = await openRowFile({ bytes: readBytes(path, () => {}), format: 'ndjson' }, dataClass)
  const summary = await loadRows({
    target: engine.rows,
    dataClass,
    format,
    rows,
    existing: 'skip',
    onRejected: ({ line }, reasons) => {
      throw new Error(`${path}, line ${line}: ${reasons.join('; ')}`)
    },
  })
  return summary.inserted + summary.skipped
}
