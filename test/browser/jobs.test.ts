/** The explorer of a server whose plugin has jobs. */
import { company } from '../support/fixtures/company.ts'
import { queuedPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'
import { inBrowser } from './harness.ts'
import { jobs } from './scenarios/jobs.ts'

const config = { plugins: [queuedPlugin], functions: { threads: 1 }, auth: { guestsAdministrate: true } }

await inBrowser({ jobs }, async (t, transport) => {
  const { url } = await startServer(t, company, { transport, config })
  return url
})
