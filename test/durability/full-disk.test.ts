import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { request } from 'undici'
import { storedFiles } from '../support/engine/stored-files.ts'
import { survey, withLog } from './world.ts'

/** More than the limit below, which the shell counts in blocks of 512 or 1,024 bytes. */
const TOO_LARGE = Buffer.alloc(24_000_000, 1)
const FITS = Buffer.alloc(3_000_000, 2)
const LIMIT_BLOCKS = 20_000

t.test('an upload that does not fit on the disk is answered with 503 and leaves nothing behind', async t => {
  const folder = t.testdir({})
  const program = fileURLToPath(new URL('uploads.child.js', import.meta.url))
  const child = spawn(
    'sh',
    ['-c', `ulimit -f ${LIMIT_BLOCKS}; exec "$@"`, 'sh', process.execPath, program, folder, '0'],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  )
  const [port] = await once(child, 'message')
  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: Uint8Array | string) => {
    const answer = await request(`http://127.0.0.1:${port}/rest${path}`, { method, body })
    return { status: answer.statusCode, bytes: Buffer.from(await answer.body.arrayBuffer()) }
  }
  const files = () => storedFiles(join(folder, 'store'))

  await send('POST', '/Document', '{}')
  t.equal((await send('PUT', '/Document(1)/content', FITS)).status, 200)
  t.equal(files().length, 1)
  for (const [method, path] of [
    ['POST', '/$upload?$binary=true'],
    ['PUT', '/Document(1)/content'],
  ] as const) {
    const { status, bytes } = await send(method, path, TOO_LARGE)
    t.equal(status, 503)
    t.match(JSON.parse(bytes.toString()).__ERROR, [{ errCode: 1046, message: /disk of the store is full/ }])
    t.equal(files().length, 1)
  }
  t.ok((await send('GET', '/Document(1)/content?$binary=true')).bytes.equals(FITS))
  t.equal((await send('POST', '/$upload?$binary=true', FITS)).status, 200, 'an upload that fits is still accepted')
  child.send('stop')
  await once(child, 'exit')
})

for (const isLogged of [false, true]) {
  t.test(
    `a full disk refuses writes${isLogged ? ' with a log' : ''}, and the store has what was acknowledged`,
    async t => {
      const folder = t.testdir({})
      const program = fileURLToPath(new URL('full-disk.child.js', import.meta.url))
      const child = spawn(
        'sh',
        ['-c', `ulimit -f ${LIMIT_BLOCKS}; exec "$@"`, 'sh', process.execPath, program, folder],
        {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
          env: withLog(isLogged),
        },
      )
      const acknowledged: string[] = []
      let refused: string[] = []
      child.on('message', (message: string | { refused: string[] }) => {
        if (typeof message === 'string') acknowledged.push(message)
        else refused = message.refused
      })
      await once(child, 'exit')
      t.equal(refused.length, 3)
      for (const text of refused) t.match(text, /disk of the store is full/)
      const { stamps, problems } = await survey(folder)
      t.same([...stamps.keys()].sort(), acknowledged.sort())
      t.ok(acknowledged.length > 1_000, `${acknowledged.length} entities`)
      t.same(problems, [])
    },
  )
}
