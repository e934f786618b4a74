/** Servers with a roles.json, and what it may contain. Source: protocol notes, 8.2 and 8.4. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer, transports } from '../support/servers/test-server.ts'

const key = createKey()

/** A server whose one API key has these privileges. */
export async function open(
  t: Test,
  roles: object,
  privileges: readonly string[],
  config: Record<string, unknown> = { plugins: [staffPlugin] },
): Promise<
  TestServer & { as: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<TestAnswer> }
> {
  const folder = temporaryFolder(t)
  const directory = { keys: [{ name: 'tests', hash: hashKey(key), privileges }] }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  const server = await startServer(t, company, { folder, roles, config, transport: transports.at(-1)! })
  const headers = { authorization: `Bearer ${key}` }
  return { ...server, as: (method, path, body) => server.send(method, path, body, headers) }
}

const NAMES = ['hr', 'boss', 'staff'].map(privilege => ({ privilege }))
export const allowed = (...permissions: object[]) => ({ privileges: NAMES, permissions: { allowed: permissions } })
export const codes = ({ json }: TestAnswer): number[] =>
  json.__ERROR?.map((error: { errCode: number }) => error.errCode)

export const employee = (...actions: string[]) => ({
  applyTo: 'Employee',
  type: 'dataclass',
  ...Object.fromEntries(actions.map(action => [action, ['hr']])),
})
