/**
 * A killed server is restarted at once on the same store, while the old process is still ending: as soon as the new one is
 * ready, it answers every request, however much there is to read.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { request } from 'undici'
import { outputUrl } from '../../engine/base/output-root.ts'
import { isLong, timeoutMs } from '../support/runner/rounds.ts'

t.setTimeout(timeoutMs)

const ROWS = isLong ? 900_000 : 60_000
const BATCH = 20_000
const CYCLES = isLong ? 10 : 2
const model = {
  name: 'restart',
  dataClasses: {
    City: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true },
        notes: { type: 'string' },
        group: { type: 'long' },
      },
    },
  },
}

t.test('a server that is ready after kill -9 answers', async t => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model) })
  const args = ['start', '--model', 'model.json', '--data', 'store', '--storage-map-size-bytes', '2 GiB', '--port', '0']
  let output = ''
  const start = (): ChildProcess => {
    const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
    const server = spawn(process.execPath, [program, ...args], { cwd, env: { PATH: process.env.PATH } })
    output = ''
    for (const stream of [server.stdout, server.stderr]) stream.on('data', chunk => (output += chunk))
    t.teardown(() => server.kill('SIGKILL'))
    return server
  }
  const base = (): string | undefined => /"url":"(http:[^"]+)"/.exec(output)?.[1]
  const send = async (path: string, body?: object) => {
    const answer = await request(base() + path, body ? { method: 'POST', body: JSON.stringify(body) } : {})
    return { status: answer.statusCode, text: await answer.body.text() }
  }
  const until = async (what: () => Promise<boolean> | boolean): Promise<void> => {
    for (let left = 6_000; !(await what()); left--) {
      if (left === 0) throw new Error(`waited for too long: ${output}`)
      await delay(10)
    }
  }

  let server = start()
  await until(() => base() !== undefined)
  let count = 0
  for (; count < ROWS; count += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, i) => ({
      name: `city ${count + i}`,
      notes: 'some words '.repeat(10),
      group: i % 100,
    }))
    t.equal((await send('/rest/City?$method=update', rows)).status, 200)
  }

  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const writing = send('/rest/City?$method=update', [{ name: 'on its way' }]).catch(() => {})
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    const killedAt = performance.now()
    server = start()
    await ended
    await writing
    await until(async () => base() !== undefined && (await send('/health/ready')).status === 200)
    const readyAt = performance.now()
    const [read, saved] = await Promise.all([
      send(
        '/rest/City?$top=1&$orderby="notes%20desc,%20name"&$filter="group%20=%207%20and%20name%20=%20%27city%20@%27"',
      ),
      send('/rest/City?$method=update', { name: 'after it' }),
    ])
    t.comment(
      `ready after ${Math.round(readyAt - killedAt)} ms, answered after ${Math.round(performance.now() - readyAt)} ms`,
    )
    t.match(read, { status: 200, text: `"__COUNT":${ROWS / 100},` })
    t.equal(saved.status, 200, saved.text)
  }
  server.kill()
  const [code] = await once(server, 'exit')
  t.equal(code, 0, output)
})
