/** `tesser clone --follow`: a copy that keeps up with its server until a signal. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fourDShop } from '../../support/fixtures/four-d-shop.ts'
import { type FourDServer, startFourD } from '../../support/services/four-d-server.ts'
import { timeoutMs } from '../../support/runner/rounds.ts'
import { runClone, same, startFollowing } from '../../support/commands/server-clones.ts'
import { startServer } from '../../support/servers/test-server.ts'

t.setTimeout(timeoutMs)
const small = () => fourDShop({ books: 150 })
const PNG = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000049454e44ae426082',
  'hex',
)

type Hook = NonNullable<FourDServer['hook']>

/** Calls `each` when a pass begins, until it returns true. */
const atPasses = (server: FourDServer, each: () => boolean): Promise<void> =>
  new Promise(resolve => {
    server.hook = path => {
      if (path.startsWith('$catalog') && each()) {
        delete server.hook
        resolve()
      }
      return false
    }
  })

const CHANGES: readonly [name: string, change: (server: FourDServer) => void, line: string][] = [
  ['an insert', server => server.put('Book', { isbn: 'ISBN new', title: 'new', author: 3 }), 'Book: 1 added'],
  ['an insert into an empty dataclass', server => server.put('Empty', { ID: 1 }), 'Empty: 1 added'],
  ['an update', server => server.put('Book', { isbn: 'ISBN 3', title: 'changed' }), 'Book: 1 changed'],
  ['a delete', server => server.remove('Book', 'ISBN 140'), 'Book: 1 removed'],
  ['the delete of the last entity', server => server.remove('Empty', 1), 'Empty: 1 removed'],
  ['a relation', server => server.put('Book', { isbn: 'ISBN 4', author: 40, authorID: 40 }), 'Book: 1 changed'],
  ['an image', server => server.put('Author', { ID: 2, photo: PNG }), 'Author: 1 changed'],
  ['an image that is removed', server => server.put('Author', { ID: 1, photo: null }), 'Author: 1 changed'],
  [
    'an entity that is created again, with its first stamp',
    server => {
      server.remove('Book', 'ISBN 0')
      server.put('Book', { isbn: 'ISBN 0', title: 'created again' })
    },
    'Book: 1 changed',
  ],
  [
    'several at once',
    server => {
      server.put('Author', { ID: 50, name: 'Author 50' })
      server.put('Book', { isbn: 'ISBN 7', title: null })
      server.remove('Book', 'ISBN 8')
    },
    'Author: 1 added; Book: 1 changed, 1 removed',
  ],
]

t.test('each change is copied, and a signal finishes the store', async t => {
  const server = await startFourD(t, small())
  const cwd = t.testdir({})
  const clone = startFollowing(cwd, { server: server.url })
  t.equal(await clone.line(/^following/), `following ${server.url}, compared every 0.005 s, until Ctrl+C or SIGTERM`)
  for (const [name, change, line] of CHANGES) {
    await atPasses(server, () => {
      change(server)
      return true
    })
    t.equal(await clone.line(/added|changed|removed/), line, name)
  }
  const count = clone.lines.length
  let left = 4
  await atPasses(server, () => --left === 0)
  t.equal(clone.lines.length, count, 'a pass without changes prints nothing')
  t.notOk(existsSync(join(cwd, 'model.json')))
  server.put('Author', { ID: 3, name: 'changed last' })
  t.ok(await clone.stop())
  t.match(
    clone.lines.slice(count).join('\n'),
    /^stopping after one last comparison; a second signal stops it immediately\n/,
  )
  await same(t, cwd, server)
  t.notOk(existsSync(join(cwd, 'store/clone.json')))
  const model = JSON.parse(readFileSync(join(cwd, 'model.json'), 'utf8'))
  const copy = await startServer(t, { model, rows: {} }, { folder: cwd })
  t.equal((await copy.get('/Author(3)/name')).json.name, 'changed last')
  t.strictSame((await copy.get('/Author(2)/photo?$imageformat=best')).bytes, PNG)
  t.equal((await copy.get('/Author(1)/photo')).json?.photo ?? null, null)
  t.equal((await copy.get('/Book(ISBN 4)/author')).json.author.__deferred.__KEY, '40')
})

t.test('a server that is away for a while', async t => {
  const server = await startFourD(t, small())
  const cwd = t.testdir({})
  const clone = startFollowing(cwd, { server: server.url })
  await clone.line(/^following/)
  let failed = 0
  const away: Hook = (path, _, response) => {
    if (!path.includes('$release')) failed++
    response.destroy()
    return true
  }
  server.hook = away
  await clone.line(/^the server cannot be read now; trying again until it can: .*\$catalog.* 7 tries failed$/)
  t.ok(failed >= 7)
  // In the middle of a pass, with another kind of failure.
  server.put('Author', { ID: 1, name: 'changed meanwhile' })
  server.put('Book', { isbn: 'ISBN 1', title: 'changed meanwhile' })
  let left = 4
  await new Promise<void>(resolve => {
    server.hook = (path, _, response) => {
      if (!path.startsWith('Book?')) return false
      if (--left === 0) resolve()
      response.writeHead(404).end()
      return true
    }
  })
  delete server.hook
  server.endSessions()
  await clone.line(/^the server can be read again$/)
  t.equal(await clone.line(/changed/), 'Author: 1 changed; Book: 1 changed')
  t.equal(clone.lines.filter(line => line.startsWith('the server cannot')).length, 1, 'it is said once')
  t.ok(await clone.stop())
  await same(t, cwd, server)
})

t.test('the server is away when the clone is stopped', async t => {
  const server = await startFourD(t, small())
  const cwd = t.testdir({})
  const clone = startFollowing(cwd, { server: server.url })
  await clone.line(/^following/)
  server.hook = (_, __, response) => {
    response.destroy()
    return true
  }
  await clone.line(/^the server cannot be read now/)
  await t.rejects(clone.stop(), { message: /cannot be read: .*; 7 tries failed; --resume continues$/ })
  delete server.hook
  server.put('Book', { isbn: 'ISBN 1', title: 'changed meanwhile' })
  t.ok((await runClone(cwd, { server: server.url, resume: true })).isComplete)
  await same(t, cwd, server)
})

t.test('sessions that end, and servers that begin a session of a guest', async t => {
  const server = await startFourD(t, small(), { users: { ada: 'hunter2' } })
  const cwd = t.testdir({})
  const credentials = { user: 'ada', password: 'hunter2' }
  const clone = startFollowing(cwd, { server: server.url, credentials })
  await clone.line(/^following/)
  for (const hides of [undefined, (dataClass: string, key: string) => dataClass === 'Book' && key.endsWith('1')]) {
    await atPasses(server, () => true)
    if (hides) server.hidesFromGuests = hides
    server.endSessions()
    await atPasses(server, () => true)
    server.endSessions()
    server.put('Book', { isbn: 'ISBN 2', title: hides ? 'changed' : 'changed again' })
    t.equal(await clone.line(/added|changed|removed/), 'Book: 1 changed')
  }
  t.ok(await clone.stop())
  await same(t, cwd, server)
})

t.test('cookies that change with each answer are not those of a session', async t => {
  const server = await startFourD(t, small(), { users: { ada: 'hunter2' } })
  let count = 0
  server.hook = (_, __, response) => {
    response.appendHeader('set-cookie', `LB=${++count}`)
    return false
  }
  const credentials = { user: 'ada', password: 'hunter2' }
  t.ok((await runClone(t.testdir({}), { server: server.url, credentials })).isComplete)
  t.ok(server.requests.filter(path => path === '$directory/login').length < 10)
})

t.test('what ends a clone that follows, so that it can be continued', async t => {
  const classes = small()
  const server = await startFourD(t, classes, { users: { ada: 'hunter2' } })
  const cwd = t.testdir({})
  const given = { server: server.url, credentials: { user: 'ada', password: 'hunter2' } }
  const clone = startFollowing(cwd, given)
  await clone.line(/^following/)
  const { attributes } = classes[0]!
  const added = { name: 'born', kind: 'storage', type: 'date' }
  ;(attributes as object[]).push(added)
  await t.rejects(clone.end, {
    message: `the catalog of ${server.url} has changed since its clone began; begin again in another folder, or undo the change there and continue with --resume`,
  })
  await t.rejects(startFollowing(cwd, { ...given, resume: true }).end, { message: /the catalog of .* has changed/ })
  ;(attributes as object[]).pop()

  const resumed = startFollowing(cwd, { ...given, resume: true })
  t.equal(await resumed.line(/^copied/), 'copied 0 entities added')
  server.hook = (path, _, response) => {
    if (path.startsWith('Book')) response.writeHead(403).end()
    return path.startsWith('Book')
  }
  await t.rejects(resumed.end, { message: /status 403; --resume continues$/ })
  server.hook = (path, _, response) => {
    if (path.includes('login')) response.end('{"result":false}')
    return path.includes('login')
  }
  await t.rejects(startFollowing(cwd, { ...given, resume: true }).end, {
    message: /^ada cannot log in: the server refuses the name or the password; --resume continues$/,
  })
  delete server.hook
  t.ok((await runClone(cwd, { ...given, resume: true })).isComplete)
  await same(t, cwd, server)
})

t.test('a stop during the first copy, and entities that the store refuses', async t => {
  const server = await startFourD(t, small())
  const cwd = t.testdir({})
  const first = startFollowing(cwd, { server: server.url })
  server.hook = path => {
    if (/^Book.*entityset.[0-9A-F]/.test(path)) void first.stop().catch(() => {})
    return false
  }
  await t.rejects(first.end, { message: 'stopped; --resume continues' })
  delete server.hook
  const clone = startFollowing(cwd, { server: server.url, resume: true })
  await clone.line(/^following/)
  server.put('Book', { isbn: 'ISBN 5', pages: 1e9 })
  t.match(await clone.line(/Book/), /^Book: 1 entity cannot be saved, such as ISBN 5: .*pages/)
  server.put('Book', { isbn: 'ISBN 5', pages: 10 })
  t.equal(await clone.line(/Book/), 'Book: 1 changed')
  t.ok(await clone.stop())
  await same(t, cwd, server)
})
