import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import type { GivenBackend } from '../../../engine/backend/backend.ts'
import { readParts, startServer } from '../../../kernel/main.ts'
import { ModuleBundler } from '../../../kernel/module-bundler.ts'
import { insertRows } from '../../../kernel/testing.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import type { Fixture } from './test-server.ts'

interface PlacedServer {
  /** @param path after `/rest` @param headers also of the answer */
  send(
    method: string,
    path: string,
    body?: string,
    headers?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }>
}

/** A server with some dataclasses in given back ends, which a configuration cannot name. It closes with the test. */
export async function startPlacedServer(
  t: Test,
  { model, rows }: Fixture,
  backends: readonly GivenBackend[],
  files: { readonly roles?: object; readonly directory?: object } = {},
): Promise<PlacedServer> {
  const folder = temporaryFolder(t)
  const put = (name: string, content: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const file = put('tesser.config.json', {
    model: put('model.json', model),
    data: join(folder, 'store'),
    auth: {
      ...(files.roles && { rolesFile: put('roles.json', files.roles) }),
      ...(files.directory && { directoryFile: put('directory.json', files.directory) }),
    },
    server: { port: 0 },
    log: { level: 'silent' },
    storage: { mapSizeBytes: '256 MiB', memoryBytes: '64 MiB' },
    pool: { threads: 1 },
  })
  const parts = await readParts(loadConfig({ file, env: {}, flags: {} }), new ModuleBundler())
  const server = await startServer({ ...parts, engine: { ...parts.engine, backends } })
  t.teardown(() => server.close())
  for (const [dataClass, entities] of Object.entries(rows)) await insertRows(server.engine.saves, dataClass, entities)
  return {
    async send(method, path, body, headers = {}) {
      const answer = await fetch(`${server.url}/rest${path}`, { method, headers, ...(body !== undefined && { body }) })
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    },
  }
}
