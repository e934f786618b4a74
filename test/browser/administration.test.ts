/** The explorer where functions can be called, files can be dropped, and guests may administrate. */
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'
import { inBrowser } from './harness.ts'
import { admin } from './scenarios/admin.ts'
import { call } from './scenarios/call.ts'
import { drop } from './scenarios/drop.ts'
import { home } from './scenarios/home.ts'
import { imports } from './scenarios/transfer.ts'

const config = { plugins: [staffPlugin], functions: { threads: 1 }, auth: { guestsAdministrate: true } }

await inBrowser({ home, call, drop, admin, imports }, async (t, transport) => {
  const { url } = await startServer(t, company, { transport, config })
  return url
})
