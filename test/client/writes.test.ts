/** Writes of a client: saves, conflicts, files and locks. */
import t from 'tap'
import { startServer, transports } from '../support/servers/test-server.ts'
import { type Db, failed, fixture, moduleOf, names } from './loaded-client.ts'

for (const transport of transports) {
  t.test(`writes, ${transport}`, async t => {
    const server = await startServer(t, fixture, { transport })
    const client = await moduleOf(t, server)
    const db: Db = client.createClient(`${server.url}/rest`)
    await t.test('create, save, conflict, delete', async t => {
      const made = await db.Company.create({
        name: 'New',
        revenues: 5,
        founded: new Date('2020-02-29T00:00:00Z'),
        info: { a: [1] },
      })
      t.match(made, { name: 'New', founded: '2020-02-29', info: { a: [1] }, __STAMP: 1 })
      t.notOk('uri' in made)
      const saved = await db.Company.save({ ...made, name: 'Newer' })
      t.match(saved, { name: 'Newer', __STAMP: 2 })
      const conflict = await failed(db.Company.save({ ...made, name: 'Other' }))
      t.ok(
        conflict instanceof client.ConflictError &&
          db.Company.isConflict(conflict) &&
          !db.Employee.isConflict(conflict),
      )
      t.match(conflict, {
        kind: 'conflict',
        status: 409,
        code: 1263,
        current: { name: 'Newer', __STAMP: 2, staff: undefined },
      })
      await db.Company.delete(made.__KEY)
      t.equal(await db.Company.get(made.ID), null)
      t.match(await failed(db.Company.delete(made.ID)), { kind: 'missing', code: 1543 })
    })
    await t.test('read-only attributes of an entity are not sent back when it is saved', async t => {
      const [row] = await db.Employee.query`ID = 2`.select('*', 'employer.*', 'directReports.*').list()
      const saved = await db.Employee.save({ ...row, salary: 46_000, manager: await db.Employee.get(4) })
      t.match(saved, { salary: 46_000, manager: { __KEY: '4' }, employer: { __KEY: '1' }, __STAMP: 2 })
      t.match(await db.Employee.save({ ...saved, employer: '3' }), { employer: { __KEY: '3' } })
      t.match(await db.Employee.query`employer = ${{ __KEY: '3' }}`.count(), 2)
    })
    await t.test('refused values', async t => {
      const error = await failed(db.Employee.create({ lastName: null, salary: -1 }))
      t.ok(error instanceof client.ValidationError && error instanceof client.TesserError && error instanceof Error)
      t.match(error, { kind: 'validation', name: 'ValidationError', attribute: String, faults: [{ errCode: Number }] })
      t.match(Object.keys(error.byAttribute).length > 0, true)
      t.match(await failed(db.Company.create({ name: 'x', code: 'FR/1' })), {
        kind: 'validation',
        attribute: 'code',
        code: 1115,
      })
      t.match(await failed(db.Company.create({ nam: 'x' })), { kind: 'missing', attribute: 'nam', code: 1500 })
      t.match(await failed(db.Company.validate({ name: 'x', code: 'wrong' })), {
        kind: 'validation',
        attribute: 'code',
      })
      t.equal(await db.Company.validate({ name: 'x' }), undefined)
    })
    await t.test('values that JSON would replace by null are refused before anything is sent', async t => {
      const employee = await db.Employee.get(3)
      const never = new Date('x')
      for (const [send, message] of [
        [() => db.Employee.save({ ...employee, salary: Number('12,5') }), /^salary is NaN/],
        [() => db.Employee.save({ ...employee, birthDate: never }), /^birthDate is an invalid Date/],
        [() => db.Company.create({ name: 'x', info: { deep: [Number.POSITIVE_INFINITY] } }), /is Infinity/],
        [() => db.Employee.query`birthDate > ${never}`.list(), /filter is an invalid Date/],
        [() => db.Employee.query`salary in ${[1, Number.NaN]}`.list(), /is NaN/],
        [() => db.Employee.get(undefined), /the key is undefined/],
        [() => db.Employee.delete(undefined), /the key is undefined/],
      ] as const) {
        const error = await failed((async () => send())())
        t.match(error, { name: 'TypeError', message })
      }
      t.match(await db.Employee.get(3), {
        salary: employee.salary,
        birthDate: employee.birthDate,
        __STAMP: employee.__STAMP,
      })
    })
    await t.test('exact numbers', async t => {
      const made = await db.Price.create({ amount: '0.10', ID: 9_007_199_254_740_995n, text: 7, uri: 'here' })
      t.match(made, { ID: 9_007_199_254_740_995n, amount: '0.10', text: '7.000', uri: 'here' })
      t.match(await db.Price.create({ amount: 1_234_567_890_123_456n }), { amount: '1234567890123456.00' })
    })
    await t.test('batches', async t => {
      const city = await db.City.get('Paris')
      const outcomes = await db.City.saveAll([
        { name: 'Lyon' },
        { ...city, name: 'Paris', population: 1.5 },
        { name: 'Paris' },
      ])
      t.match(outcomes, [
        { entity: { name: 'Lyon' } },
        { error: { kind: 'validation', attribute: 'population', index: 1 } },
        { error: { kind: 'validation', index: 2 } },
      ])
      const error = await failed(db.City.saveAtomic([{ name: 'Nice' }, { name: 'Paris' }]))
      t.ok(error instanceof client.BatchError)
      t.match(error, { index: 1, failures: [{ index: 1, kind: 'validation' }] })
      t.equal(await db.City.get('Nice'), null)
      t.match(names(await db.City.saveAtomic([{ name: 'Nice' }, { name: 'Brest' }])), ['Nice', 'Brest'])
      t.strictSame(await db.City.saveAll([]), [])
      await db.City.delete(['Nice', 'Brest'], { atomic: true })
      await db.City.delete([])
      await db.City.query`name = ${'Lyon'}`.delete()
      t.equal(await db.City.all.count(), 4)
      t.match(await failed(db.City.all.delete()), { kind: 'request', code: 1806 }, 'not everything by mistake')
    })
    await t.test('files', async t => {
      const { photo } = await db.Employee.get(1)
      const image = await db.$download(photo)
      t.equal(image.type, 'image/png')
      t.match(client.imageUrl(photo, { width: 8, format: 'gif' }), /imageformat=gif.*&\$width=8$/)
      const shares: number[] = []
      const upload = await db.$upload(image, { onProgress: (share: number) => shares.push(share) })
      t.equal(shares.at(-1), 1)
      const saved = await db.Employee.save({ ...(await db.Employee.get(2)), photo: upload })
      t.equal((await db.$download(saved.photo)).size, image.size)
      t.match(await db.Employee.save({ ...saved, photo: null }), { photo: null })
      const large = new Uint8Array(300_000).fill(7)
      const parts: number[] = []
      const file = await db.$upload(large, { onProgress: (share: number) => parts.push(share) })
      t.ok(parts.length > 1 && parts.every((share, index) => share >= (parts[index - 1] ?? 0)))
      const company = await db.Company.save({ ...(await db.Company.get(2)), contract: file })
      t.equal((await db.$download(company.contract)).size, 300_000)
      t.match(await failed(db.$download({ url: `${server.url}/rest/Employee(77)/photo` })), { kind: 'missing' })
      t.match(await failed(db.$upload(new Uint8Array(0))), { kind: 'request', code: 1806 })
    })
    await t.test('locks belong to the session that a client keeps', async t => {
      const other: Db = client.createClient(`${server.url}/rest`)
      t.match(await db.Employee.at(3).lock(), { ok: true })
      t.match(await other.Employee.at(3).lock(), { ok: false, lockInfo: Object })
      const row = await other.Employee.get(3)
      t.match(await failed(other.Employee.save({ ...row, salary: 1 })), { kind: 'locked' })
      t.match(await db.Employee.at(3).unlock(), { ok: true })
      t.match(await db.Employee.at(3).unlock(), { wasNotLocked: true })
    })
  })
}
