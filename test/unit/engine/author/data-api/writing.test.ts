import t from 'tap'
import { decode } from '../../../../support/engine/read-request.ts'
import { internals } from '../../../../../engine/author/data-api/entity-internals.ts'
import type { EntityBase } from '../../../../../engine/author/data-api/entity.ts'
import { WriterLink } from '../../../../../engine/write/client/writer-link.ts'
import { openWorld } from '../../../../support/engine/code-world.ts'

const codes = (...errCodes: number[]): Error =>
  ({ entries: errCodes.map(errCode => ({ errCode })) }) as unknown as Error

/** An error about a text of the code. */
const misuse = (...errCodes: number[]): Error => ({ name: 'UsageError', cause: codes(...errCodes) }) as unknown as Error

t.test('saving', async t => {
  const { run, engine } = await openWorld(t)

  t.test('a new entity gets key and stamp, and the same call can read it', async t => {
    run(ds => {
      const grown = ds.Employee!.new({ lastName: 'Noether', employer: { __KEY: 2 } })
      t.equal(grown.isNew(), true)
      t.equal(grown.getKey(), null)
      t.equal(grown.touched(), true)
      t.same(grown.touchedAttributes(), ['lastName', 'employerID'])
      t.same(grown.save(), { success: true })
      t.equal(grown.isNew(), false)
      t.equal(grown.getKey(), 7)
      t.equal(grown.getStamp(), 1)
      t.equal(grown.touched(), false)
      t.equal(grown.employer.name, 'Éclair')
      t.equal(ds.Employee!.query('lastName = noether').first()?.ID, 7)
      t.equal(ds.Employee!.getCount(), 7)
    })
  })

  t.test('saveOrThrow and dropOrThrow throw what the client is to receive', async t => {
    run(ds => {
      const entity = ds.Employee!.new({ lastName: 'Noether', salary: -1 })
      const error = (work: () => void) => {
        try {
          work()
        } catch (thrown) {
          const { httpStatus, entries } = thrown as { httpStatus: number; entries: object[] }
          return { httpStatus, first: entries[0] }
        }
        return undefined
      }
      t.match(
        error(() => entity.saveOrThrow({ index: 3 })),
        {
          httpStatus: 422,
          first: { errCode: 1568, attribute: 'salary', index: 3 },
        },
      )
      t.match(error(() => entity.saveOrThrow())?.first, { index: undefined })
      entity.salary = 1
      entity.saveOrThrow()
      const other = ds.Employee!.get(entity.ID)!
      other.update({ salary: 2 })
      t.match(
        error(() => entity.dropOrThrow()),
        { httpStatus: 409, first: { errCode: 1263 } },
      )
      entity.dropOrThrow({ force: true })
      t.equal(ds.Employee!.get(other.ID), null)
    })
  })

  t.test('update repeats changes to an entity that others have saved', async t => {
    run(ds => {
      const [mine, other] = [ds.Employee!.get(6)!, ds.Employee!.get(6)!]
      t.equal(mine.salary, 30_000)
      t.same(other.update({ salary: 40_000 }), { success: true })
      let attempts = 0
      const add = (it: { salary: number }) => {
        attempts++
        it.salary += 5
      }
      t.same(mine.update(add), { success: true })
      t.equal(ds.Employee!.get(6)!.salary, 40_005)
      t.equal(attempts, 2)
      t.match(other.update(add, { attempts: 1 }), { success: false, status: 2 })
      t.same(other.reload(), { success: true })
      t.equal(other.salary, 40_005)
      mine.update({ salary: 7 })
      other.firstName = 'Unsaved'
      t.match(other.update({ salary: 8 }), { success: false, status: 2 }, 'what was assigned before is not lost')
      t.equal(other.firstName, 'Unsaved')
      mine.update({ salary: 30_000 })
    })
  })

  t.test('the function of update cannot wait', async t => {
    run(ds => {
      const entity = ds.Employee!.get(6)!
      const later = async (it: { salary: number }) => {
        await Promise.resolve()
        it.salary = 1
      }
      t.throws(() => entity.update(later), { name: 'LANGUAGE.ASYNC_UPDATE' })
      t.equal(ds.Employee!.get(6)!.salary, 30_000)
    })
  })

  t.test('only assigned attributes change; dates and related entities can be assigned as objects', async t => {
    run(ds => {
      const kurt = ds.Employee!.get(2)!
      kurt.salary *= 2
      kurt.birthDate = new Date(Date.UTC(1976, 3, 28, 12))
      kurt.employer = ds.Company!.get(3)
      kurt.manager = null
      t.equal(kurt.employerID, 3)
      t.equal(kurt.employer.name, 'zeta')
      t.same(kurt.save(), { success: true })
      const again = ds.Employee!.get(2)!
      t.equal(again.salary, 90_000)
      t.equal(again.birthDate, '1976-04-28T12:00:00.000Z')
      t.equal(again.employer.name, 'zeta')
      t.equal(again.manager, null)
      t.equal(again.firstName, 'Kurt')
      t.equal(again.getStamp(), 2)
    })
  })

  t.test('a property that code adds to a status is in no other status', async t => {
    run(ds => {
      const ada = ds.Employee!.get(1)!
      Object.assign(ada.save(), { secret: 'of one caller' })
      t.strictSame(ada.save(), { success: true })
      Object.assign(ada.reload(), { secret: 'of one caller' })
      t.strictSame(ada.reload(), { success: true })
    })
  })

  t.test('a change inside an object is saved', async t => {
    run(ds => {
      const acme = ds.Company!.get(1)!
      t.equal(acme.info.offices.length, 2)
      t.equal(acme.touched(), false)
      acme.info.offices.push({ city: 'Nice', size: 1 })
      t.same(acme.touchedAttributes(), ['info'])
      acme.save()
      t.equal(ds.Company!.get(1)?.info.offices[2].city, 'Nice')
    })
  })

  t.test('images and blobs are bytes', async t => {
    run(ds => {
      const acme = ds.Company!.get(1)!
      t.same([...acme.contract.bytes], [0, 1, 2, 3, 4, 5])
      acme.contract = Uint8Array.of(9, 8)
      acme.save()
      t.same([...ds.Company!.get(1)!.contract.bytes], [9, 8])
      const ada = ds.Employee!.get(1)!
      t.equal(ada.photo.mediaType, 'image/png')
      ada.photo = null
      ada.save()
      t.equal(ds.Employee!.get(1)?.photo, null)
    })
  })

  t.test('a failed save returns status and errors, and the entity keeps its assigned values', async t => {
    run(ds => {
      const ada = ds.Employee!.get(1)!
      ada.salary = -1
      const status = ada.save()
      t.equal(status.success, false)
      t.equal(status.status, 4)
      t.same(
        status.errors?.map(({ errCode }) => errCode),
        [1568, 1517],
      )
      t.equal(ada.salary, -1)
      t.same(ada.reload(), { success: true })
      t.equal(ada.salary, 90_000)
    })
  })

  t.test('saving an entity that was saved elsewhere meanwhile is status 2', async t => {
    run(ds => {
      const [mine, theirs] = [ds.Employee!.get(4)!, ds.Employee!.get(4)!]
      mine.salary = 1
      theirs.salary = 2
      t.equal(theirs.save().success, true)
      t.match(mine.save(), { success: false, status: 2, statusText: 'Stamp has changed' })
      t.match(mine.drop(), { success: false, status: 2 })
      t.same(mine.drop({ force: true }), { success: true })
      t.match(theirs.save(), { success: true }, 'nothing to save')
      theirs.salary = 3
      t.match(theirs.save(), { success: false, status: 5 })
      t.match(theirs.reload(), { success: false, status: 5 })
    })
  })

  t.test('of two that drop an entity at the same time, one succeeds', async t => {
    const other = new WriterLink(end => void engine.parts.writer.connect(end))
    run(ds => {
      for (const force of [false, true]) {
        const entity = ds.City!.new({ name: 'Atlantis' })
        entity.save()
        const rowIds = Uint32Array.of(internals.rowId(entity as unknown as EntityBase)!)
        // The call has a snapshot with the entity.
        t.equal(ds.City!.get('Atlantis')?.isNew(), false)
        const { result } = other.write({ kind: 'delete', dataClass: 'City', rowIds, atomic: false })
        t.equal(result.deleted, 1)
        t.match(entity.drop({ force }), { success: false, status: 5, errors: [{ errCode: 1543 }] })
      }
    })
    other.close()
  })

  t.test('other callers see what a call has saved', async t => {
    run(ds => ds.City!.new({ name: 'Köln', population: 1_000_000 }).save())
    const answer = await engine.queries.read({
      dataClass: 'City',
      source: { kind: 'keys', keys: ['Köln'] },
      skip: 0,
      top: 1,
      output: { form: 'entity' },
    })
    t.match(decode(answer), { population: 1_000_000 })
  })
})

t.test('wrong names and values', async t => {
  const { run, codeSession } = await openWorld(t)
  run(ds => {
    const ada = ds.Employee!.get(1)!
    t.throws(() => (ada.salary = 'much'), codes(1508))
    t.throws(() => (ada.woman = 3), codes(1508))
    t.throws(() => (ada.birthDate = new Date(Number.NaN)), codes(1508))
    t.throws(() => (ada.directReports = null), codes(1516))
    t.throws(() => (ada.employerName = 'x'), codes(1516))
    t.throws(() => (ada.employer = ada), { name: 'UsageError', message: /a saved entity of Company/ })
    t.throws(() => (ada.employer = ds.Company!.new()), { name: 'UsageError', message: /an entity of/ })
    t.throws(() => ds.Employee!.new({ lastNam: 'x' }), { name: 'UsageError', message: /lastName/ })
    t.throws(() => ds.Employee!.query('salry > 1'), { name: 'UsageError', message: /salary/ })
    t.throws(() => ds.Employee!.query('salary >'), misuse(1201))
    t.throws(() => ds.Employee!.query('salary > :1'), misuse(1279))
    t.throws(() => ds.Employee!.all().sum('salry'), misuse(1500, 1804))
    t.throws(() => ds.Employee!.all().sum('lastName'), misuse(1817))
    t.throws(() => ds.Employee!.all().orderBy('employer'), misuse(1594, 1810))
    t.throws(() => ds.Employee!.all().and(ds.Company!.all() as never), {
      name: 'UsageError',
      message: /something of Company does not fit/,
    })
    ada.salry = 5
    t.throws(() => ada.save(), { message: /salary/ })
  })
  t.throws(() => codeSession.snapshots.current, codes(1562))
  codeSession.scope.run({ canWrite: false }, () => {
    const kurt = codeSession.binding('Employee').entity(1) as unknown as { salary: number; save(): unknown }
    kurt.salary = 1
    t.throws(() => kurt.save(), codes(1828))
  })
})

t.test('collections and objects', async t => {
  const { run } = await openWorld(t)
  run(ds => {
    const saved = ds.City!.fromCollection([
      { name: 'Köln', population: 1 },
      { name: 'Paris', population: 2 },
      { __KEY: 'New York (NY)', __STAMP: 1, population: 3 },
      { __KEY: '東京', __STAMP: 7, population: 4 },
      { __KEY: 'Roma', population: 5 },
    ])
    t.same(saved.extract('name', 'population'), [
      { name: 'Köln', population: 1 },
      { name: 'Paris', population: 2 },
      { name: 'New York (NY)', population: 3 },
      { name: 'Roma', population: 5 },
    ])
    t.equal(ds.City!.get('東京')?.population, 14_000_000)

    const kurt = ds.Employee!.get(2)!
    t.match(kurt.toObject(), { ID: 2, lastName: 'Gödel', employer: { __KEY: 1 }, manager: { __KEY: 1 }, pay: 45_000 })
    t.notOk('directReports' in kurt.toObject())
    kurt.secret = 'x'
    const all = [kurt.toObject(), kurt.toObject('*'), kurt.toJSON(), ...ds.Employee!.query('ID = 2').toCollection()]
    for (const object of all) {
      t.equal(object.lastName, 'Gödel')
      t.notOk('secret' in object, 'private attributes must be named')
    }
    t.same(kurt.toObject('lastName, secret'), { lastName: 'Gödel', secret: 'x' })
    t.notOk('secret' in (kurt.toObject('manager.*').manager as object))
    kurt.reload()
    t.same(kurt.toObject('lastName, employer.name, directReports.lastName', { withKey: true }), {
      __KEY: 2,
      lastName: 'Gödel',
      employer: { __KEY: 1, name: 'Acme' },
      directReports: [{ __KEY: 4, lastName: 'Hopper' }],
    })
    t.same(ds.Employee!.all().orderBy('ID').toCollection('ID', { begin: 1, howMany: 2 }), [{ ID: 2 }, { ID: 3 }])
    t.throws(() => kurt.toObject('nam'), misuse(1500))

    const clone = kurt.clone()
    clone.salary = 7
    t.same(clone.diff(kurt), [
      { attributeName: 'salary', value: 7, otherValue: 45_000 },
      { attributeName: 'pay', value: 7, otherValue: 45_000 },
    ])
    t.equal(kurt.indexOf(ds.Employee!.all()), 1)
  })
})

t.test('selections and writes', async t => {
  const { run } = await openWorld(t)
  run(ds => {
    const rich = ds.Employee!.query('salary > 40000 order by ID')
    for (const employee of rich) {
      employee.salary = 1
      t.equal(employee.save().success, true)
    }
    t.same(rich.extract('salary'), [1, 1, 1, 1], 'the selection is from before the first save')
    t.equal(ds.Employee!.query('salary > 40000').length, 0)

    const blocked = ds.Company!.all().drop()
    t.same(blocked.extract('name'), ['Acme', 'Éclair', 'zeta'], 'companies with staff are not dropped')
    const all = ds.Employee!.all().orderBy('ID')
    ds.Employee!.get(5)?.drop()
    t.same(all.extract('ID'), [1, 2, 3, 4, 6])
    t.equal(all.at(4), null)
    t.equal(all.length, 6)
  })
})
