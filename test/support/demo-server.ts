import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { request } from 'undici'
import { loadConfig } from '../../config/load-config.ts'
import { loadDemo } from '../../kernel/cli/demo.ts'
import { createServer, type Server } from '../../kernel/main.ts'

/** The demo, loaded into a store of its own and served on a free port until the test ends. */
export async function startDemo(t: Test, more: Record<string, string> = {}): Promise<Server> {
  const flags = { port: '0', data: join(t.testdir({}), 'demo'), ...more }
  const config = loadConfig({ env: {}, flags, cwd: flags.data })
  await loadDemo(config, () => {})
  const server = await createServer(config, pino({ level: 'silent' }))
  t.teardown(() => server.close())
  return server
}

/** Lets the demo load its model for sentences, which answers 503 where that takes long. */
export async function loadSentenceModel({ url }: Server): Promise<void> {
  for (let status = 503; status === 503; ) {
    const answer = await request(`${url}/rest/Passage/vector?$params=["a"]`)
    await answer.body.dump()
    status = answer.statusCode
  }
}
