/**
 * Entity sets of two servers that share a database. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { RoundRobin, startPair, startShared } from '../support/servers/node-pair.ts'
import type { TestAnswer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const FILMS = Array.from({ length: 3_000 }, (_, i) => `('Film ${i}', ${i % 200})`)
const shared = await startShared(t)
if (typeof shared === 'string') t.comment(`skipped: ${shared}`)
else {
  await shared.run(`INSERT INTO film (title, length) VALUES ${FILMS.join()}`)
  const clock = { now: Date.parse('2026-06-01T00:00:00Z') }
  const quotas = { quota: { entitySetsPerSession: 20 }, entitySet: { guestBytesPerAddress: '8 KiB' } }
  const nodes = await startPair(t, shared, { now: () => clock.now, config: quotas })
  const client = () => new RoundRobin(nodes)
  /** A client who has logged in: guests have bounds in bytes. */
  const loggedIn = async () => {
    const ada = client()
    await ada.login('Ada')
    return ada
  }
  const uriOf = ({ json }: TestAnswer): string => json.__ENTITYSET.replace(/^.*\/rest/, '')
  const idOf = (answer: TestAnswer): string => uriOf(answer).split('/').at(-1)!
  const make = async (ada: RoundRobin, path: string): Promise<string> => {
    const answer = await ada.get(path)
    t.equal(answer.status, 200, answer.text)
    return uriOf(answer)
  }
  const keysOf = ({ json }: TestAnswer): string[] => json.__ENTITIES.map((each: { __KEY: string }) => each.__KEY)
  const counts = async (ada: RoundRobin, path: string) => (await ada.each(path)).map(({ json }) => json.__COUNT)

  t.test('a set of one server is one on the other', async t => {
    const ada = await loggedIn()
    const uri = await make(ada, '/Film?$filter="length < 100"&$method=entityset')
    const [a, b] = await ada.each(`${uri}?$skip=10&$top=5`)
    t.ok(a!.json.__COUNT > 1_000)
    t.same(a!.json, b!.json)
    t.same(await counts(ada, `${uri}?$filter="title = 'Film 1'"`), [1, 1])
  })

  t.test('an ordered set keeps its order', async t => {
    const ada = await loggedIn()
    const uri = await make(ada, '/Film?$orderby="title desc"&$method=entityset')
    const expected = keysOf(await ada.get('/Film?$orderby="title desc"&$top=20'))
    for (const answer of await ada.each(`${uri}?$top=20`)) t.same(keysOf(answer), expected)
  })

  t.test('keys of several columns are members', async t => {
    const ada = await loggedIn()
    const uri = await make(ada, '/Part?$orderby="ID desc"&$method=entityset')
    for (const answer of await ada.each(uri)) t.same(keysOf(answer), ['3~3', '3~2', '1~1'])
    t.same(await counts(ada, `${uri}?$clean=true&$filter="filmID = 3"`), [2, 2])
    const other = await ada.get('/Part?$filter="actorID = 3"&$method=entityset')
    t.same(await counts(ada, `${uri}?$logicOperator=AND&$otherCollection=${idOf(other)}`), [1, 1])
  })

  t.test('sets made on different servers are combined on any', async t => {
    const ada = await loggedIn()
    const long = await make(ada, '/Film?$filter="length > 150"&$method=entityset')
    const some = await ada.get('/Film?$filter="title = \'Film 1@\'"&$method=entityset')
    const count = async (operator: string) => {
      const path = `${long}?$logicOperator=${operator}&$otherCollection=${idOf(some)}`
      const found = (await ada.each(path)).map(({ json }) => json.__COUNT ?? json)
      t.equal(found[0], found[1])
      return found[0]
    }
    const by = async (filter: string) => (await ada.get(`/Film?$top=0&$filter="${filter}"`)).json.__COUNT
    t.equal(await count('AND'), await by("length > 150 and title = 'Film 1@'"))
    t.equal(await count('OR'), await by("length > 150 or title = 'Film 1@'"))
    t.equal(await count('EXCEPT'), await by("length > 150 and not(title = 'Film 1@')"))
    t.equal(await count('INTERSECT'), true)
    const both = await make(ada, `${long}?$logicOperator=AND&$otherCollection=${idOf(some)}&$method=entityset`)
    t.same(await counts(ada, both), Array(2).fill(await by("length > 150 and title = 'Film 1@'")))
    const local = await ada.get('/Company?$method=entityset')
    t.equal((await ada.get(`${long}?$logicOperator=AND&$otherCollection=${idOf(local)}`)).status, 400)
  })

  t.test('deleted members stay as gaps, until they are cleaned', async t => {
    const ada = await loggedIn()
    await ada.post('/Film?$method=update', [{ title: 'Gone' }, { title: 'Gone' }, { title: 'Gone' }])
    const uri = await make(ada, '/Film?$filter="title = Gone"&$method=entityset')
    const [first] = keysOf(await ada.get(uri))
    await ada.post(`/Film(${first})?$method=delete`)
    t.same(await counts(ada, uri), [3, 3])
    t.same(await counts(ada, `${uri}?$clean=true`), [2, 2])
  })

  t.test('a release on one server is one on the other', async t => {
    const ada = await loggedIn()
    const [one, two, three] = [
      await make(ada, '/Film?$method=entityset'),
      await make(ada, '/Actor?$method=entityset'),
      await make(ada, '/Film?$method=entityset'),
    ]
    for (const { status } of await ada.each(one)) t.equal(status, 200)
    t.same((await ada.get(`${one}?$method=release`)).json, { ok: true })
    for (const { status } of await ada.each(one)) t.equal(status, 404)
    t.equal((await ada.get(`${one}?$method=release`)).status, 404)
    const ids = [two, three].map(uri => uri.split('/').at(-1))
    t.equal((await ada.post('/Film/$entityset/$release', ids)).status, 404, 'one of another class')
    for (const { status } of await ada.each(three)) t.equal(status, 200, 'nothing has ended')
    t.same((await ada.post('/$entityset/$release', ids)).json, { ok: true })
    for (const uri of [two, three]) for (const { status } of await ada.each(uri)) t.equal(status, 404)
  })

  t.test('a set of another class is not found', async t => {
    const ada = await loggedIn()
    const uri = await make(ada, '/Film?$method=entityset')
    for (const { status } of await ada.each(uri.replace('Film', 'Actor'))) t.equal(status, 404)
    for (const { status } of await ada.each(uri.replace('Film', 'Company'))) t.equal(status, 404)
  })

  t.test('the timeout starts with the last use on any server, and ends the set on all', async t => {
    const ada = await loggedIn()
    const answer = await ada.get('/Film?$method=entityset&$timeout=100')
    const uri = uriOf(answer)
    clock.now += 80_000
    t.equal((await ada.get(uri)).status, 200)
    const expires = async () =>
      (await ada.get('/$info/entitySet')).json.entitySet.find(({ id }: { id: string }) => id === idOf(answer)).expires
    const expected = new Date(clock.now + 100_000).toISOString()
    t.ok(await until(async () => (await expires()) === expected), 'the use is stored in the background')
    clock.now += 80_000
    for (const { status } of await ada.each(uri)) t.equal(status, 200)
    clock.now += 300_000
    for (const { status } of await ada.each(uri)) t.equal(status, 404)
  })

  t.test('a saved query makes a set again on any server', async t => {
    const ada = await loggedIn()
    const path = '/Film?$filter="length = :1"&$params=\'[150]\'&$savedfilter=true&$method=entityset&$timeout=10'
    const uri = await make(ada, path)
    const before = (await counts(ada, uri))[0]
    clock.now += 60_000
    t.same(await counts(ada, uri), [before, before])
    await ada.post('/Film?$method=update', { title: 'New', length: 150 })
    t.same(await counts(ada, uri), [before, before], 'a live set stays')
    await ada.get(`${uri}?$refresh=true`)
    t.same(await counts(ada, uri), [before + 1, before + 1])
  })

  t.test('the sets of a session are bounded on all servers together', async t => {
    const ada = await loggedIn()
    for (let i = 0; i < 20; i++) t.equal((await ada.get('/Language?$method=entityset')).status, 200)
    for (const { status } of await ada.each('/Language?$method=entityset')) t.equal(status, 429)
    t.equal((await (await loggedIn()).get('/Language?$method=entityset')).status, 200)
  })

  t.test('the oldest sets of guests end when they take too much', async t => {
    const guest = client()
    const uris: string[] = []
    for (let i = 0; i < 12; i++) uris.push(await make(guest, '/Film?$filter="length < 150"&$method=entityset'))
    const statuses = await Promise.all(uris.map(async uri => (await guest.get(uri)).status))
    t.equal(statuses[0], 404)
    t.equal(statuses.at(-1), 200)
    t.equal((await guest.get('/Film?$orderby=title&$method=entityset')).status, 413, 'a single one is too large')
  })

  t.test('sets are listed on all servers', async t => {
    const ada = await loggedIn()
    const [film, company] = [await ada.get('/Film?$method=entityset'), await ada.get('/Company?$method=entityset')]
    for (const { json } of await ada.each('/$info/entitySet')) {
      t.match(
        json.entitySet.find(({ id }: { id: string }) => id === idOf(film)),
        { dataClass: 'Film', sorted: false, selectionSize: Number },
      )
    }
    const local = await ada.each(uriOf(company))
    t.same(local.map(({ status }) => status).sort(), [200, 404], 'those of the store are those of one server')
  })

  t.test('expired sets are removed', async t => {
    await make(await loggedIn(), '/Actor?$method=entityset&$timeout=1')
    clock.now += 90 * 86_400_000
    const isEmpty = async (): Promise<boolean> => {
      // The other server may be at it.
      await nodes[0]!.engine.parts.sharedSets!.sweep()
      const check = 'DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM tesser.entity_set); END $$'
      return shared.run(check).then(
        () => true,
        () => false,
      )
    }
    t.ok(await until(isEmpty))
  })

  t.test('a database that is away', async t => {
    const guest = client()
    const uri = await make(guest, '/Film?$filter="length < 20"&$method=entityset')
    const local = await guest.get('/Company?$method=entityset')
    await shared.goAway()
    for (const { status } of await guest.each(uri)) t.equal(status, 503)
    t.ok(
      (await guest.each(uriOf(local))).some(({ status }) => status === 200),
      'sets of the store go on',
    )
    await shared.comeBack()
    t.ok(await until(async () => (await guest.each(uri)).every(({ status }) => status === 200)))
  })
}
