/** The explorer on a model of 60 dataclasses. */
import { sixtyClasses } from '../support/fixtures/sixty-classes.ts'
import { startServer } from '../support/servers/test-server.ts'
import { inBrowser } from './harness.ts'
import { manyClasses } from './scenarios/many-classes.ts'

await inBrowser({ manyClasses }, async (t, transport) => (await startServer(t, sixtyClasses, { transport })).url)
