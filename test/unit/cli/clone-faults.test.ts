/** `tesser clone` from servers that fail: one sentence, and a copy that continues. */
import { existsSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { runClone, same } from '../../support/commands/server-clones.ts'
import { fourDShop } from '../../support/fixtures/four-d-shop.ts'
import { startFourD } from '../../support/services/four-d-server.ts'
import { timeoutMs } from '../../support/runner/rounds.ts'

t.setTimeout(timeoutMs)
const small = () => fourDShop({ books: 150 })
const pages = /^Book\/.*\$entityset\//

t.test('answers that fail now and then', async t => {
  const server = await startFourD(t, small())
  let count = 0
  server.hook = (path, _, response) => {
    count++
    if (path.startsWith('$catalog') || path.includes('$release')) return false
    if (count % 4 === 0) response.destroy()
    else if (count % 5 === 0) response.writeHead(503, { 'retry-after': '0' }).end('busy')
    else if (count % 7 === 0 && path.includes('$') && !path.includes('$expand'))
      response.writeHead(200).end('{"__ENTITIES":[{"__KEY":"1","__STA')
    else if (count % 11 === 0) response.writeHead(200, { 'content-length': 1000 }).write('{', () => response.destroy())
    else return false
    return true
  }
  const cwd = t.testdir({})
  t.ok((await runClone(cwd, { server: server.url })).isComplete)
  await same(t, cwd, server)
})

const endless = (response: ServerResponse): void => {
  const piece = ' '.repeat(2 ** 20)
  const more = (): void => {
    while (!response.destroyed && response.write(piece)) {}
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

type Fault = (response: ServerResponse) => void
/** Faults after which the copy is continued. */
const CONTINUED = new Set(['cut connections', 'HTML', 'no entity set'])
const FAULTS: readonly [name: string, on: RegExp, fault: Fault, message: RegExp][] = [
  ['500', pages, response => response.writeHead(500).end('{}'), /Book.* answers with status 500; 7 tries failed/],
  ['cut connections', pages, response => response.destroy(), /Book.* cannot be read: .*; 7 tries failed/],
  ['HTML', pages, response => response.end('<html>sorry'), /is not JSON: "<html>sorry"; 7 tries failed/],
  ['other JSON', pages, response => response.end('[1,2]'), /Book does not answer with entities/],
  ['no entities', pages, response => response.end('{"__ENTITIES":[]}'), /Book sends no entities from position 0/],
  [
    'no rights',
    pages,
    response => response.writeHead(403).end('{"__ERROR":[{"message":"no","errCode":1557}]}'),
    /403: no \(1557\)/,
  ],
  ['an endless body', pages, endless, /Book.* answers with more than 67108864 bytes/],
  ['no entity set', /^Book\?/, response => response.end('{}'), /does not answer \$method=entityset with an entity set/],
  [
    'a redirection',
    /^Book\?/,
    response => response.writeHead(302, { location: 'http://x/' }).end(),
    /redirects to "http:\/\/x\/"; give that/,
  ],
]
for (const [name, on, fault, message] of FAULTS) {
  t.test(`one sentence, and a copy that continues: ${name}`, async t => {
    const server = await startFourD(t, small())
    server.hook = (path, _, response) => {
      if (!on.test(path)) return false
      fault(response)
      return true
    }
    const cwd = t.testdir({})
    const error = await runClone(cwd, { server: server.url }).catch((error: Error) => error)
    t.match((error as Error).message, message)
    t.match((error as Error).message, /^[^\n]*; --resume continues$/)
    t.match(error, { name: 'Error' })
    await t.rejects(runClone(cwd, { server: server.url }), {
      message: /was interrupted: --resume continues it; to begin again/,
    })
    await t.rejects(runClone(cwd, { server: 'http://127.0.0.1:1', resume: true }), {
      message: /the interrupted clone into .* is of http/,
    })
    if (!CONTINUED.has(name)) return
    server.hook = () => false
    server.requests.length = 0
    t.ok((await runClone(cwd, { server: server.url, resume: true })).isComplete)
    await same(t, cwd, server)
    t.notOk(
      server.requests.some(path => path.startsWith('Author/ID,name') && path.endsWith('$top=40')),
      'no entity is copied twice',
    )
  })
}

const CATALOGS: readonly [name: string, body: string, message: RegExp][] = [
  ['text', 'hello', /is not JSON: "hello"; 7 tries failed$/],
  ['other JSON', '{"a":1}', /has no dataclasses; is it the address of a server\?$/],
  ['no dataclass', '{"dataClasses":[]}', /has no dataclasses; is it the address of a server\?$/],
  [
    'nothing usable',
    '{"dataClasses":[{"name":"A"},{"name":"B","key":[{"name":"__x"}]}]}',
    /^no dataclass of .* can be copied$/,
  ],
]
for (const [name, body, message] of CATALOGS) {
  t.test(`a catalog that cannot be used: ${name}`, async t => {
    const server = await startFourD(t, [])
    server.hook = (path, _, response) => {
      if (path.startsWith('$catalog')) response.end(body)
      else response.end('{"__ENTITIES":[]}')
      return true
    }
    const cwd = t.testdir({})
    await t.rejects(runClone(cwd, { server: server.url }), { message })
    t.notOk(existsSync(join(cwd, 'store')))
  })
}
