import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

/** Limits on what guests store, by network: without its cookie, a guest is a new one in each request. */

const MIB = 2 ** 20
const key = createKey()
const from = (address: string) => ({ 'x-forwarded-for': address })
const user = { authorization: `Bearer ${key}`, ...from('192.0.2.1') }

const folder = temporaryFolder(t)
const keys = [{ name: 'nightly', hash: hashKey(key), privileges: ['read'] }]
writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
const clock = { ms: Date.parse('2026-06-01T00:00:00Z') }
const config = {
  server: { trustedProxies: ['loopback'] },
  entitySet: { guestBytesPerAddress: 10_000, maxGuestBytes: 16_000 },
  upload: { guestBytesPerAddress: 2 * MIB, maxGuestBytes: 3 * MIB },
}
const open = (fixture: typeof company) => startServer(t, fixture, { folder, config, now: () => clock.ms })
let server = await open(company)

t.test('§P5.7 uploads of guests are bounded by network and in total, also after a restart', async t => {
  const body = Buffer.alloc(MIB)
  const upload = (headers: Record<string, string>, bytes: Uint8Array | string = body) =>
    server.post('/$upload?$binary=true&$timeout=60', bytes, headers)
  const refused = (status: number, errCode: number) => ({
    status,
    headers: { 'retry-after': '10' },
    json: { __ERROR: [{ errCode }] },
  })

  t.equal((await upload(from('2001:db8::1'))).status, 200)
  t.match(await upload(from('2001:db8::2')), refused(429, 1200), 'an address of the same network, with 4 KiB for each')
  t.match(await server.send('PUT', '/Company(1)/contract', body, from('2001:db8::3')), refused(429, 1200))
  t.equal((await upload(from('2001:db8::1'), 'x')).status, 200, 'a small upload still fits')
  t.equal((await upload(from('2001:db8:0:1::1'))).status, 200, 'another network')

  await server.close()
  server = await open({ ...company, rows: {} })
  t.match(await upload(from('2001:db8::1')), refused(429, 1200))
  t.match(await upload(from('192.0.2.1')), refused(503, 1046), 'all guests together')
  t.equal((await upload(user)).status, 200, 'a client with a key is not a guest')
  t.equal((await upload(user)).status, 200)
  t.equal((await upload(user)).status, 200)

  clock.ms += 60_000
  await server.engine.uploads.sweep()
  for (let i = 0; i < 3; i++) {
    const put = await server.send('PUT', '/Company(1)/contract', body, from('2001:db8::1'))
    t.equal(put.status, 200, 'uploads that have expired, and bytes that became a value, do not count')
  }
  t.equal((await upload(from('2001:db8::1'))).status, 200)
})

t.test('§3 entity sets of guests are bounded by network and in total: the oldest are released', async t => {
  const made = '/Company?$method=entityset&$savedfilter=true'
  const related = '/Company(1)/staff?$expand=staff&$method=subentityset'
  const make = async (path: string, headers: Record<string, string>): Promise<string> => {
    const { status, json, text } = await server.get(path, headers)
    t.equal(status, 200, text.slice(0, 300))
    return json.__ENTITYSET.replace('/rest', '')
  }
  /** True for each set that exists; a set of which only the query is left would be made again. */
  const living = async (paths: readonly string[]): Promise<boolean[]> => {
    const statuses: boolean[] = []
    for (const path of paths) statuses.push((await server.get(path, user)).status === 200)
    return statuses
  }
  const network = (i: number) => from(`2001:db8::${i}`)

  const ofUser = await make(made, user)
  const first: string[] = []
  for (let i = 0; i < 5; i++) first.push(await make(i === 2 ? related : made, network(i)))
  t.same(await living(first), [false, true, true, true, true], 'four of one network')

  // Ids that never existed are made by the query that comes with them.
  for (let i = 10; i < 12; i++) {
    const path = `/Company/$entityset/${String(i).repeat(16)}?$savedfilter="ID>0"`
    t.equal((await server.get(path, network(i))).status, 200)
  }
  t.same(await living(first), [false, false, false, true, true])

  await server.close()
  server = await open({ ...company, rows: {} })
  await server.engine.entitySets.sweep()
  const second: string[] = []
  clock.ms += 1000
  for (let i = 0; i < 4; i++) second.push(await make(made, from('192.0.2.1')))
  t.same(await living(second), [true, true, true, true], 'another network')
  const kept = await living([...first.slice(3), '1010', '1111'].map(id => (id.length > 4 ? id : setOf(id))))
  t.equal(kept.filter(Boolean).length, 3, 'seven of all guests, also of those from before a restart')
  t.same(await living([ofUser]), [true], 'a client with a key is not a guest')
})

const setOf = (digits: string): string => `/Company/$entityset/${digits.repeat(8)}`
