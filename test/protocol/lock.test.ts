import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { unlessRemote } from '../support/runner/setting.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer, usualTransports } from '../support/servers/test-server.ts'

/** `$lock`. Source: protocol notes, 8.8. */

const SUCCESS = { result: true, __STATUS: { success: true } }
const key = createKey()

interface World {
  server: TestServer
  clock: { now: number }
  /** Headers of two sessions. */
  ada: Record<string, string>
  kurt: Record<string, string>
}

async function open(t: Test, transport = usualTransports[0]!): Promise<World> {
  const folder = temporaryFolder(t)
  const clock = { now: Date.now() }
  const keys = [{ name: 'machine', hash: hashKey(key) }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users: [], keys }))
  const server = await startServer(t, company, { folder, now: () => clock.now, transport })
  const session = async (): Promise<Record<string, string>> => {
    const { headers } = await server.get('/Company(1)')
    return { cookie: String(headers['set-cookie']).split(';')[0]!, 'user-agent': 'tests' }
  }
  return { server, clock, ada: await session(), kurt: await session() }
}

for (const transport of usualTransports) {
  t.test(`$lock on ${transport}`, async t => {
    const { server, ada, kurt } = await open(t, transport)
    const locked = {
      result: false,
      __STATUS: {
        success: false,
        status: 3,
        statusText: 'Already Locked',
        lockKind: 7,
        lockKindText: 'Locked By Session',
        lockInfo: { host: new URL(server.url).host, IPAddr: '127.0.0.1', userAgent: 'tests' },
      },
    }

    await t.test('§P8.8 locks by POST and by GET, again and again for its owner, for no other session', async t => {
      t.same((await server.post('/Employee(1)?$lock=true', undefined, ada)).json, SUCCESS)
      t.same((await server.get('/Employee(1)?$lock=true', ada)).json, SUCCESS)
      t.same((await server.get('/Employee(1)?$lock=true', kurt)).json, locked)
      t.same((await server.get('/Employee(1)?$lock=false', kurt)).json, locked)
      t.same((await server.get('/Employee(1)?$lock=true')).json, locked, 'a guest without a cookie')
    })

    await t.test('§P8.8 others read it but neither change nor delete it', async t => {
      const { json } = await server.get('/Employee(1)', kurt)
      const change = [{ __KEY: '1', __STAMP: json.__STAMP, salary: 1 }]
      for (const parameters of ['$method=update', '$method=update&$atomic=true', '$method=update&$refresh=true']) {
        const { status, json } = await server.post(`/Employee?${parameters}`, change, kurt)
        t.equal(status, 409, parameters)
        t.same(json.__ENTITIES[0].__STATUS, locked.__STATUS)
        t.same(
          json.__ENTITIES[0].__ERROR.map((error: { errCode: number }) => error.errCode),
          [1066, 1517],
        )
        t.equal(json.__ENTITIES[0].salary, 90_000, 'as it is on the server')
      }
      const deleted = await server.post('/Employee(1)?$method=delete', undefined, kurt)
      t.same([deleted.status, deleted.json.__ERROR[0].errCode], [409, 1066])
      const others = await server.post('/Employee?$method=delete&$atomic=true', undefined, kurt)
      t.equal(others.status, 409)
      t.equal((await server.get('/Employee', kurt)).json.__COUNT, company.rows.Employee!.length, 'nothing is deleted')
    })

    const isLocked = unlessRemote('the foreign keys of a database do not know locks')
    await t.test('§P8.8 an entity is not deleted if the deletion would change a locked one', isLocked, async t => {
      // Employee(2) and (3) have Employee(1) as their manager, which a deletion sets to null.
      await server.post('/Employee(1)?$lock=false', undefined, ada)
      await server.post('/Employee(2)?$lock=true', undefined, ada)
      const deleted = await server.post('/Employee(1)?$method=delete', undefined, kurt)
      t.equal(deleted.status, 409)
      t.match(deleted.json.__ERROR[0].message, /Employee.manager/)
      await server.post('/Employee(2)?$lock=false', undefined, ada)
      await server.post('/Employee(1)?$lock=true', undefined, ada)
    })

    await t.test('§P8.8 its owner changes it, unlocks it, and learns when there was no lock', async t => {
      const { json } = await server.get('/Employee(1)', ada)
      const change = { __KEY: '1', __STAMP: json.__STAMP, salary: 90_001 }
      t.equal((await server.post('/Employee?$method=update', change, ada)).status, 200)
      t.same((await server.get('/Employee(1)?$lock=false', ada)).json, SUCCESS)
      t.same((await server.get('/Employee(1)?$lock=false', ada)).json, {
        result: true,
        __STATUS: { success: true, wasNotLocked: true },
      })
      t.same((await server.get('/Employee(1)?$lock=true', kurt)).json, SUCCESS)
      t.same((await server.get('/Employee(1)?$lock=false', kurt)).json, SUCCESS)
    })

    const wrong: [string, number, number][] = [
      ['/Employee(99)?$lock=true', 404, 1543],
      ['/Employee?$lock=true', 400, 1806],
      ['/Employee(1)?$lock=yes', 400, 1806],
      ['/Employee(1)?$lock=', 400, 1806],
      ['/Hidden(1)?$lock=true', 404, 1800],
    ]
    for (const [path, status, errCode] of wrong) {
      await t.test(`§P8.8 ${path} is refused`, async t => {
        const answer = await server.get(path, ada)
        t.same([answer.status, answer.json.__ERROR.at(-1).errCode], [status, errCode], answer.json.__ERROR[0].message)
      })
    }
  })
}

t.test('§P8.8 a lock ends with the logout of its session', async t => {
  const { server, ada, kurt } = await open(t)
  await server.get('/Employee(1)?$lock=true', ada)
  await server.post('/$directory/logout', undefined, ada)
  t.same((await server.get('/Employee(1)?$lock=true', kurt)).json, SUCCESS)
})

t.test('§P8.8 a lock ends when its session expires', async t => {
  const { server, clock, ada, kurt } = await open(t)
  await server.get('/Employee(1)?$lock=true', ada)
  clock.now += 25 * 3_600_000
  await server.get('/Employee(1)', ada)
  const { result } = (await server.get('/Employee(1)?$lock=true', kurt)).json
  t.equal(result, true)
})

const hasClock = unlessRemote('the clock of the test is not that of the thread with the locks')
t.test('§P8.8 requests with the same key have the same lock, for ten minutes', hasClock, async t => {
  const { server, clock, kurt } = await open(t)
  const machine = { authorization: `Bearer ${key}` }
  t.same((await server.post('/Employee(1)?$lock=true', undefined, machine)).json, SUCCESS)
  t.same((await server.post('/Employee(1)?$lock=true', undefined, machine)).json, SUCCESS, 'the same key')
  const byOther = async () => (await server.get('/Employee(1)?$lock=true', kurt)).json.result
  t.equal(await byOther(), false)
  clock.now += 599_000
  t.equal(await byOther(), false, 'until ten minutes have passed')
  clock.now += 2_000
  t.equal(await byOther(), true, 'then it is free')
})
