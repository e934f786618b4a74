/** Events of a save: their order, and what an error of one does. */
import type { EventError } from '../../../../../engine/author/declare/event-types.ts'
import t from 'tap'
import { calls, effects, stops } from './staff-code.ts'
import { HookedClasses } from '../../../../../engine/author/hooks/hooked-classes.ts'
import { staffCatalog } from '../../../../support/fixtures/staff.ts'
import { openStaffWorld } from './staff-world.ts'

const { save, stored, run, faults, employee } = await openStaffWorld(t)

t.test('P9 the events of an update run in order, attributes before the entity', async t => {
  const { entities } = save(employee(1, { salary: 91_000, firstName: 'Augusta' }))
  t.equal(entities[0]!.failure, undefined)
  t.same(calls, [
    'touched salary',
    'touched any "salary"',
    'touched any "firstName"',
    'validateSave salary',
    'validateSave',
    'saving',
    'afterSave ["success",["salary","firstName"]]',
  ])
  t.match(stored(1), { salary: 91_000, firstName: 'Augusta' })
  save(employee(1, { firstName: 'Ada' }))
})

t.test('P9 a new entity is constructed first', async t => {
  const { entities } = save({ firstName: 'Mary', lastName: 'Shelley' })
  t.equal(entities[0]!.failure, undefined)
  t.same(calls, [
    'constructor',
    'touched any "firstName"',
    'touched any "lastName"',
    'validateSave',
    'saving lastName',
    'saving',
    'afterSave ["success",["firstName","lastName"]]',
  ])
})

t.test('P5.1 an update that changes nothing has no events', async t => {
  t.equal(save(employee(1, {})).entities[0]!.failure, undefined)
  t.equal(save(employee(1, { salary: 91_000, employer: { __KEY: 1 } })).entities[0]!.failure, undefined)
  t.same(calls, [])
})

const failures = [
  {
    name: 'a mild error of validateSave is a status and one error',
    stop: ['validateSave', { errCode: 4, message: 'no' }],
    events: ['validateSave salary', 'validateSave'],
    status: { status: 7, statusText: 'Mild Validation Error' },
    errors: [4],
  },
  {
    name: 'a serious error of an attribute stops the events after it',
    stop: ['validateSave salary', { errCode: 5, message: 'no', seriousError: true, extraDescription: { a: 1 } }],
    events: ['validateSave salary'],
    status: { status: 8, statusText: 'Serious Validation Error' },
    errors: [5, 1517],
  },
  {
    name: 'an error of saving is another error',
    stop: ['saving', { errCode: 6, message: 'no' }],
    events: ['validateSave salary', 'validateSave', 'saving'],
    status: { status: 4, statusText: 'Other error' },
    errors: [6, 1517],
  },
] as const
for (const { name, stop, events, status, errors } of failures) {
  t.test(`P9 ${name}`, async t => {
    stops.set(...(stop as unknown as [string, EventError]))
    const before = stored(2)
    const [saved] = save(employee(2, { salary: 1 })).entities
    t.same(saved!.failure?.status, status)
    t.same(
      saved!.failure?.error.entries.map(({ errCode }) => errCode),
      errors,
    )
    const [own] = saved!.failure!.error.entries
    t.equal(own!.componentSignature, 'DBEV')
    t.equal(saved!.failure?.error.httpStatus, 422)
    t.same(own!.extraDescription, 'extraDescription' in stop[1] ? stop[1].extraDescription : undefined)
    t.ok(saved!.row, 'the entity as it is on the server')
    t.same(calls.slice(2), [...events, 'afterSave ["failed",["salary"]]'])
    t.same(stored(2), before)
    const direct = run(ds => {
      const entity = ds.Employee!.get(2)!
      entity.salary = 1
      return entity.save()
    })
    t.match(direct, { success: false, ...status })
    t.same(
      direct.errors?.map(({ errCode }) => errCode),
      errors,
      'function code gets the same',
    )
  })
}

t.test('P9 an error of an event takes precedence over that of the stamp', async t => {
  stops.set('validateSave', { errCode: 4, message: 'no' })
  t.same(save({ __KEY: 2, __STAMP: 77, salary: 1 }).entities[0]!.failure?.status.status, 7)
  stops.clear()
  t.same(save({ __KEY: 2, __STAMP: 77, salary: 1 }).entities[0]!.failure?.status.status, 2)
  t.equal(calls.at(-1), 'afterSave ["failed",["salary"]]')
})

t.test('P9 code may set attributes that clients may not, and its values win', async t => {
  effects.set('saving', entity => {
    entity.secret = 'set by code'
    entity.salary = 50_000
    entity.employerID = 2
  })
  const [saved] = save(employee(2, { salary: 1, employer: { __KEY: 1 } })).entities
  t.equal(saved!.failure, undefined)
  t.match(stored(2), { secret: 'set by code', salary: 50_000, employerID: 2, employer: '2' })
})

t.test('P9 an entity is not saved by its own events', async t => {
  let status: unknown
  effects.set('afterSave', entity => {
    entity.salary = 8
    status = entity.save()
  })
  t.equal(save(employee(3, { salary: 9 })).entities[0]!.failure, undefined)
  t.match(status, { success: false, status: 4, errors: [{ errCode: 1562 }] })
  t.equal(stored(3)!.salary, 9)
})

t.test('P9 code can save an entity again after an event of it has thrown', async t => {
  run(ds => {
    const grace = ds.Employee!.get(4)!
    const { firstName } = grace
    grace.firstName = 'Brewster'
    effects.set('saving', () => {
      throw new TypeError('not now')
    })
    t.throws(() => grace.save(), { message: 'not now' })
    effects.clear()
    t.same(grace.save(), { success: true })
    grace.firstName = firstName
    t.same(grace.save(), { success: true })
  })
})

t.test('P9 a touched event that assigns its own attribute does not recurse', async t => {
  effects.set('touched salary', entity => {
    entity.salary = 10
  })
  save(employee(3, { salary: 11 }))
  t.equal(stored(3)!.salary, 10)
})

t.test('P9 an error after a save is only logged', async t => {
  effects.set('afterSave', () => {
    throw new Error('too late')
  })
  t.equal(save(employee(3, { salary: 12 })).entities[0]!.failure, undefined)
  t.match(faults.pop(), { message: 'too late' })
})

t.test('P9 code that throws fails its entity and no others', async t => {
  effects.set('saving', entity => {
    if (entity.ID === 3) throw new TypeError('oops')
  })
  const [failed, saved] = save([employee(3, { salary: 13 }), employee(2, { salary: 13 })]).entities
  t.match(failed!.failure, { status: { status: 4 }, error: { httpStatus: 500 } })
  t.same(
    failed!.failure!.error.entries.map(({ errCode }) => errCode),
    [1562, 1517],
  )
  t.match(faults.pop(), { message: 'oops' })
  t.equal(stored(3)!.salary, 12)
  t.equal(saved!.failure, undefined)
  t.throws(
    () =>
      run(ds => {
        const entity = ds.Employee!.get(3)!
        entity.salary = 13
        entity.save()
      }),
    { message: 'oops' },
    'function code receives the error itself',
  )
  effects.clear()
  t.equal(save(employee(3, { salary: 13 })).entities[0]!.failure, undefined, 'and the next one works')
})

t.test('P9 code of one event hooks only those saves, deletions or reads of a dataclass that it concerns', async t => {
  const company = staffCatalog().dataClassesByName.get('Company')!
  const classesOf = (kind: string, event: string) =>
    new HookedClasses([
      { kind, name: 'Code', dataClass: 'Company', members: [{ kind: 'event', name: 'code', event }] } as never,
    ])
  for (const event of ['constructor', 'touched', 'validateSave', 'saving', 'afterSave']) {
    const classes = classesOf('entity', event)
    t.ok(classes.onSave(company), event)
    t.notOk(classes.onDrop(company), event)
    t.notOk(classes.restrict(company), event)
  }
  for (const event of ['validateDrop', 'dropping', 'afterDrop']) {
    const classes = classesOf('entity', event)
    t.notOk(classes.onSave(company), event)
    t.ok(classes.onDrop(company), event)
  }
  const restricting = classesOf('dataClass', 'restrict')
  t.ok(restricting.restrict(company))
  t.same([...restricting.restricted], ['Company'])
  t.ok(restricting.onSave(company), 'a save must not reveal what may not be seen')
  t.notOk(new HookedClasses([]).onSave(company))
})
