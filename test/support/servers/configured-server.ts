import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Test } from 'tap'
import { request } from 'undici'
import { type Config, loadConfig } from '../../../config/load-config.ts'
import type { GivenBackend } from '../../../engine/backend/backend.ts'
import { createLogger } from '../../../kernel/log.ts'
import { readParts, type Server, startServer } from '../../../kernel/main.ts'
import { ModuleBundler } from '../../../kernel/module-bundler.ts'
import { insertRows } from '../../../kernel/testing.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import { company } from '../fixtures/company.ts'
import type { Fixture } from './test-server.ts'

interface ConfiguredOptions {
  readonly fixture?: Partial<Fixture>
  /** Content of `tesser.config.json`, added to that of the tests. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Other files of the folder, as texts or JSON. */
  readonly files?: Readonly<Record<string, string | object>>
  readonly env?: Readonly<Record<string, string>>
  /** Values that a file may not have. */
  readonly change?: (config: Config) => Config
  /** Given back ends, which a configuration cannot name. */
  readonly backends?: readonly GivenBackend[]
  readonly now?: () => number
  /** Gets each line of the log, in the form of the server. */
  readonly onLine?: (line: string) => void
  /** Another logger, as that of `logSink`, which hides nothing. */
  readonly logger?: (config: Config) => Logger
  readonly folder?: string
}

export interface ConfiguredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface ConfiguredServer {
  readonly server: Server
  readonly folder: string
  /** @param body POST, unless `method` says otherwise */
  ask(
    path: string,
    options?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<ConfiguredAnswer>
}

/**
 * A server that reads its files from a folder, as operators start it, with the company unless the test has another fixture. It
 * closes with the test. `startServer` of `test-server.ts` is for all tests that need neither these files nor a log.
 */
export async function startConfigured(t: Test, options: ConfiguredOptions = {}): Promise<ConfiguredServer> {
  const { fixture, files = {}, env = {}, change = config => config, backends = [], now } = options
  const { onLine = () => {}, logger = config => createLogger(config, { write: onLine }) } = options
  const { model = company.model, rows = company.rows } = fixture ?? {}
  const { server: serverOptions, log, storage, ...config } = (options.config ?? {}) as Record<string, object>
  const folder = options.folder ?? temporaryFolder(t)
  const content = {
    model: 'model.json',
    data: 'store',
    ...config,
    server: { port: 0, graceMs: 1_000, ...serverOptions },
    log: { level: 'debug', ...log },
    storage: { mapSizeBytes: '256 MiB', memoryBytes: '64 MiB', ...storage },
  }
  for (const [name, text] of Object.entries({ 'model.json': model, 'tesser.config.json': content, ...files })) {
    writeFileSync(join(folder, name), typeof text === 'string' ? text : JSON.stringify(text))
  }
  const loaded = change(loadConfig({ cwd: folder, env, flags: {} }))
  const bundler = new ModuleBundler()
  t.teardown(() => bundler.close())
  const parts = await readParts(loaded, bundler)
  const engine = backends.length > 0 ? { ...parts.engine, backends } : parts.engine
  const server = await startServer({ ...parts, engine }, logger(loaded), now && { now })
  t.teardown(() => server.close())
  for (const [dataClass, entities] of Object.entries(rows)) await insertRows(server.engine.saves, dataClass, entities)
  return {
    server,
    folder,
    async ask(path, { body, method = body === undefined ? 'GET' : 'POST', headers = {} } = {}) {
      const answer = await request(server.url + path, {
        method: method as 'GET',
        headers,
        ...(body !== undefined && { body }),
      })
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
    },
  }
}
