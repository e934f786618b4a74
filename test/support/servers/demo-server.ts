import { cpSync, existsSync, renameSync } from 'node:fs'
import { resolve } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { request } from 'undici'
import { type Config, loadConfig } from '../../../config/load-config.ts'
import { loadDemo } from '../../../kernel/cli/demo.ts'
import { createServer, type Server } from '../../../kernel/main.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'

/** The demo in a separate store, served on a free port until the test ends. */
export async function startDemo(t: Test, more: Record<string, string> = {}): Promise<Server> {
  const data = temporaryFolder(t)
  loading ??= loadOnce(t)
  cpSync(await loading, data, { recursive: true })
  const server = await createServer(configOf({ data, ...more }), pino({ level: 'silent' }))
  t.teardown(() => server.close())
  return server
}

let loading: Promise<string> | undefined

/** A store with the demo, for all tests of a build, because loading it takes as long as many of them. */
async function loadOnce(t: Test): Promise<string> {
  const loaded = resolve('dist/test/demo')
  if (existsSync(loaded)) return loaded
  const folder = temporaryFolder(t, resolve('dist/test'))
  await loadDemo(configOf({ data: folder }), () => {})
  try {
    renameSync(folder, loaded)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(loaded)) throw error
  }
  return loaded
}

const configOf = (flags: Record<string, string> & { data: string }): Config =>
  loadConfig({ env: {}, flags: { port: '0', ...flags }, cwd: flags.data })

/** Makes the demo load its sentence model, and waits for it: calls that take too long are answered with 503. */
export async function loadSentenceModel({ url }: Server): Promise<void> {
  for (let status = 503; status === 503; ) {
    const answer = await request(`${url}/rest/Passage/vector?$params=["a"]`)
    await answer.body.dump()
    status = answer.statusCode
  }
}
