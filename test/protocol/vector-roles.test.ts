import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { passages } from '../support/fixtures/passages.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

/** Vectors that may not be read: they do not reveal which vectors they are near. Source: protocol notes, 8.4. */

const roles = {
  privileges: [{ privilege: 'readers' }],
  permissions: {
    allowed: [
      { applyTo: 'Passage.embedding', type: 'attribute', read: ['readers'] },
      { applyTo: 'Passage.meaning', type: 'attribute', read: ['readers'] },
    ],
  },
}

t.test('a vector that may not be read does not exist in conditions, orders, scores and lists', async t => {
  const key = createKey()
  const folder = temporaryFolder(t)
  const directory = { keys: [{ name: 'tests', hash: hashKey(key), privileges: ['readers'] }] }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  const server = await startServer(t, passages, { folder, roles })
  const reader = { authorization: `Bearer ${key}` }
  const near = { $filter: 'embedding > :1', $params: [{ vector: [1, 0, 0] }] }
  for (const [name, path, body] of [
    ['a threshold', '/Passage/$query', near],
    ['the nearest', '/Passage/$query', { ...near, $params: [{ vector: [1, 0, 0], threshold: null }] }],
    ['a path of relations', '/Book/$query', { ...near, $filter: 'passages.embedding > :1' }],
    ['NOT', '/Passage/$query', { ...near, $filter: 'not (embedding > :1)' }],
    ['a placeholder for the path', '/Passage/$query', { $filter: ':1 > :2', $params: ['embedding', near.$params[0]] }],
    ['an alias', '/Passage/$query', { ...near, $filter: 'meaning > :1' }],
    ['an order', '/Passage/$query', { ...near, $orderby: 'embedding desc' }],
    ['an order in the text', '/Passage/$query', { ...near, $filter: 'embedding > :1 order by embedding' }],
    ['the score', '/Passage/__SCORE/$query', near],
    ['a wrong vector', '/Passage/$query', { ...near, $params: [{ vector: [1] }] }],
    ['a condition on null', '/Passage/$query', { $filter: 'embedding = null' }],
    ['an attribute list', '/Passage/embedding/$query', {}],
    ['$compute', '/Passage/embedding/$query', { $compute: 'count' }],
    ['the plan', '/Passage/$query', { ...near, $queryplan: true }],
    ['an entity set', '/Passage/$query', { ...near, $method: 'entityset' }],
  ] as const) {
    const guest = await server.post(path, body)
    t.equal(guest.status, 404, `${name}: ${guest.text.slice(0, 300)}`)
    const rename = (text: string): string => text.replaceAll(/embedding|meaning/g, 'zzzzzz')
    const unknown = await server.post(rename(path), JSON.parse(rename(JSON.stringify(body))))
    t.equal(rename(guest.text), unknown.text, `${name}: the same words as for a name that does not exist`)
    if (name === 'a wrong vector') continue
    const read = await server.post(path, body, reader)
    t.equal(read.status, 200, `${name}: ${read.text.slice(0, 300)}`)
  }
  for (const path of ['/Passage', '/Passage(1)', '/Book?$expand=passages', '/Passage/*', '/$catalog/Passage']) {
    t.notMatch((await server.get(path)).text, /embedding|meaning/, path)
    t.match((await server.get(path, reader)).text, /embedding/, path)
  }
  const saved = await server.post('/Passage?$method=update', { __KEY: '1', __STAMP: 1, embedding: [0, 0, 1] })
  t.not(saved.json.__STATUS?.success, true)
  t.match((await server.get('/Passage(1)', reader)).json, { embedding: [1, 0, 0], __STAMP: 1 })
})
