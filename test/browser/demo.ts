import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { quickHash } from '../support/base/password.ts'
import type { TransportName } from '../../kernel/transport/transport.ts'
import { startDemo } from '../support/servers/demo-server.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

const password = await quickHash('correct horse')
const users = [
  { name: 'ada', fullName: 'Ada Lovelace', password, privileges: ['viewBoxOffice'] },
  { name: 'admin', password, privileges: ['WebAdmin'] },
]
/** Guests see everything except one attribute. */
const roles = {
  privileges: [{ privilege: 'viewBoxOffice' }],
  roles: [{ role: 'press', privileges: ['viewBoxOffice'] }],
  permissions: { allowed: [{ applyTo: 'Movie.worldwideGross', type: 'attribute', read: ['viewBoxOffice'] }] },
}

/** The demo with a user who sees more than guests do, and an administrator. */
export async function startExplorer(t: Test, transport: TransportName): Promise<string> {
  const folder = temporaryFolder(t)
  const file = (name: string, content: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const server = await startDemo(t, {
    'server-transport': transport,
    'auth-directory-file': file('tesser.directory.json', { users }),
    'auth-roles-file': file('roles.json', roles),
  })
  t.equal(server.transport, transport)
  return server.url
}
