import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import { quantity } from '../../engine/base/counted.ts'
import { loadRows, openRowFile } from '../../engine/command-line.ts'
import { type Engine, openEngine } from '../../engine/index.ts'
import { engineOptions } from '../main.ts'
import { readDemoRows } from './demo-rows.ts'

const PART_BYTES = 256 * 1024

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
  const content = readFileSync(join(folder, 'demo.json'), 'utf8')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === content) return
  report('loading the demo data, once')
  const engine = await openEngine({ ...engineOptions(config), memoryBytes: 0 })
  try {
    for (const [dataClass, rows] of await readDemoRows(folder)) {
      report(`${dataClass}: ${quantity(await loadClass(engine, dataClass, rows), 'entity', 'entities')}`)
    }
    writeFileSync(marker, content, { mode: 0o600 })
  } finally {
    await engine.close()
  }
}

async function loadClass(engine: Engine, name: string, ndjson: Buffer): Promise<number> {
  const dataClass = engine.catalog.dataClassesByName.get(name)!
  const { format, rows } = await openRowFile({ bytes: partsOf(ndjson), format: 'ndjson' }, dataClass)
  const summary = await loadRows({
    target: engine.rows,
    dataClass,
    format,
    rows,
    existing: 'skip',
    onRejected: ({ line }, reasons) => {
      throw new Error(`row ${line} of ${name} in the demo: ${reasons.join('; ')}`)
    },
  })
  return summary.inserted + summary.skipped
}

/** Parts that are read while others are saved. */
async function* partsOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) yield bytes.subarray(start, start + PART_BYTES)
}
