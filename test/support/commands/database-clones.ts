import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { cloneDatabase, type CloneDatabaseArguments } from '../../../kernel/cli/clone-database/clone-database.ts'
import { createServer } from '../../../kernel/main.ts'

/** A folder into which databases are copied. */
export function cloneWorld(t: Test) {
  const cwd = t.testdir({})
  const config = loadConfig({
    cwd,
    env: {},
    flags: { model: 'model.json', data: 'data', port: '0', 'storage-map-size-bytes': '256 MiB' },
  })
  return {
    cwd,
    config,
    model: () => JSON.parse(readFileSync(config.model, 'utf8')),
    async clone(source: string, more: Partial<CloneDatabaseArguments> = {}, signal?: AbortSignal) {
      const lines: string[] = []
      const given = { source, modelOnly: false, resume: false, errors: cwd, ...more }
      const isComplete = await cloneDatabase(config, given, line => lines.push(line), signal)
      return { isComplete, text: lines.join('\n') }
    },
    /** Rows in the files of errors, by dataclass. */
    rejected(): Record<string, { line: number; errors: string[]; row: Record<string, unknown> }[]> {
      const files = readdirSync(cwd).filter(file => file.endsWith('.errors.ndjson'))
      return Object.fromEntries(
        files.map(file => [
          file.replace('.errors.ndjson', ''),
          readFileSync(join(cwd, file), 'utf8')
            .trim()
            .split('\n')
            .map(line => JSON.parse(line)),
        ]),
      )
    },
    isUnfinished: () => existsSync(join(config.data, 'clone.ndjson')),
    /** Serves the copy until the end of the test. @returns what a GET answers */
    async serve(): Promise<(path: string) => Promise<Buffer>> {
      const server = await createServer(config, pino({ level: 'silent' }))
      t.teardown(() => server.close())
      return async path => Buffer.from(await (await fetch(`${server.url}/rest/${path}`)).arrayBuffer())
    },
  }
}
