/** A clone that is killed at any moment and resumed has each entity of the server once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import t from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { same } from '../support/commands/server-clones.ts'
import { fourDShop } from '../support/fixtures/four-d-shop.ts'
import { startFourD } from '../support/services/four-d-server.ts'
import { isLong, timeoutMs } from '../support/runner/rounds.ts'

t.setTimeout(timeoutMs)
const BOOKS = 3_000
const KILLS = isLong ? 20 : 4

t.test('killed and resumed', async t => {
  const server = await startFourD(t, fourDShop({ books: BOOKS }))
  const cwd = t.testdir({})
  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const clone = (resume: boolean) => {
    const given = ['clone', server.url, '--model', 'model.json', '--data', 'store', ...(resume ? ['--resume'] : [])]
    const child = spawn(process.execPath, [program, ...given], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    const output = { text: '' }
    child.stderr.on('data', chunk => (output.text += chunk))
    return { child, output, end: once(child, 'close') as Promise<[number | null, string | null]> }
  }
  const stateFile = join(cwd, 'store/clone.json')
  let kills = 0
  for (; kills < KILLS; kills++) {
    const { child, end } = clone(existsSync(stateFile))
    // Small pages, so that there are many moments; each try gets a little further before it is killed at another request.
    let left = 3 + 2 * kills
    server.hook = (path, _, response) => {
      if (/\$top=(\d{3,})/.test(path) && Number(/\$top=(\d+)/.exec(path)![1]) > 300 && path.includes('$skip')) {
        response.writeHead(413).end()
        return true
      }
      if (--left === 0) child.kill('SIGKILL')
      return false
    }
    const [code, signal] = await end
    if (signal === null) {
      t.equal(code, 0)
      break
    }
  }
  server.hook = () => false
  if (existsSync(stateFile)) {
    // Killed once more where the store gets its final form, whenever that is.
    const { child, end } = clone(true)
    server.hook = path => {
      if (/^Empty\/.*\$release/.test(path)) setTimeout(() => child.kill('SIGKILL'), 300)
      return false
    }
    await end
    server.hook = () => false
  }
  if (existsSync(stateFile)) {
    const { output, end } = clone(true)
    t.strictSame(await end, [0, null], output.text)
  }
  await same(t, cwd, server)
  t.notOk(existsSync(stateFile))
  t.ok(kills > 0)
})

t.test('a clone that follows, killed and stopped', async t => {
  const server = await startFourD(t, fourDShop({ books: 300 }))
  const cwd = t.testdir({})
  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const follow = (...more: string[]) => {
    const given = ['clone', server.url, '--model', 'model.json', '--data', 'store', ...more]
    const child = spawn(process.execPath, [program, ...given], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const line = async (pattern: RegExp): Promise<void> => {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`the clone has ended without ${pattern}`)
        if (pattern.test(value)) return
      }
    }
    return { child, line, end: once(child, 'close') as Promise<[number | null, string | null]> }
  }
  const changed = (isbn: string, count: number): void => server.put('Book', { isbn, title: `changed ${count}` })

  const killed = follow('--follow', '1')
  await killed.line(/^following/)
  changed('ISBN 1', 1)
  await killed.line(/^Book: 1 changed/)
  server.hook = path => {
    if (/^Book\/isbn,.*entityset/.test(path)) killed.child.kill('SIGKILL')
    return false
  }
  changed('ISBN 2', 1)
  server.remove('Book', 'ISBN 3')
  t.strictSame(await killed.end, [null, 'SIGKILL'])
  delete server.hook

  const ended = follow('--resume', '--follow')
  await ended.line(/^following .* compared every 10 s/)
  server.hook = async path => path.startsWith('Book') && new Promise<boolean>(() => {})
  changed('ISBN 4', 1)
  ended.child.kill('SIGTERM')
  await ended.line(/^stopping after one last comparison; a second signal/)
  ended.child.kill('SIGTERM')
  t.strictSame(await ended.end, [143, null])
  delete server.hook

  const finished = follow('--resume', '--follow', '1')
  await finished.line(/^following/)
  changed('ISBN 5', 1)
  await finished.line(/^Book: 1 changed/)
  changed('ISBN 6', 1)
  finished.child.kill('SIGINT')
  await finished.line(/are complete: tesser start/)
  t.strictSame(await finished.end, [0, null])
  await same(t, cwd, server)
})
