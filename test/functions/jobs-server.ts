/** A server with the plugin "queued", whose jobs write lines. */
import type { Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { queuedPlugin } from '../support/plugins/test-plugins.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

export const start = (t: Test, options: object = {}): Promise<TestServer> =>
  startServer(t, company, {
    ...options,
    config: {
      auth: { guestsAdministrate: true },
      plugins: [queuedPlugin],
      functions: { threads: 1, breakerLimit: 1_000 },
    },
  })

export const enqueue = async (
  server: TestServer,
  name: string,
  args: unknown[] = [],
  options: object = {},
): Promise<string> => (await server.post('/$catalog/put', [name, args, options])).json.result

const LINES = '/Line?$attributes=text&$asArray=true&$top=1000&$filter="text != every"&$orderby=ID'

export async function lines(server: TestServer): Promise<string[]> {
  const { json } = await server.get(LINES.replaceAll(' ', '%20'))
  return (json as { text: string }[]).map(({ text }) => text)
}

/** Waits until a job has one of these states. */
export async function until(server: TestServer, id: string, ...states: string[]) {
  for (;;) {
    const { json } = await server.get(`/$jobs/${id}`)
    if (states.includes(json.state)) return json
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

/** Waits until each job has ended. */
export async function settled(server: TestServer): Promise<void> {
  for (;;) {
    const { counts } = (await server.get('/$jobs')).json
    if (counts.ready + counts.running === 0) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
