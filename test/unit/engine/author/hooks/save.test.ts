import type { EventError } from '../../../../../engine/author/declare/event-types.ts'
import t from 'tap'
import { calculated, DataClass, Entity, event } from '../../../../../engine/author/data-api/classes.ts'
import { RowView } from '../../../../../engine/row-format/row-view.ts'
import { calls, EmployeeEntity, effects, stops } from './staff-code.ts'
import { openHookedWorld } from './world.ts'
import { HookedClasses } from '../../../../../engine/author/hooks/hooked-classes.ts'
import { staffCatalog } from '../../../../support/fixtures/staff.ts'

/** Values that the set handlers below have received. */
const given: unknown[] = []
class TagEntity extends Entity('Tag') {
  @calculated({ type: 'long64' }) get large(): null {
    return null
  }
  set large(value: unknown) {
    given.push(value)
  }
  @calculated({ type: 'object' }) get list(): null {
    return null
  }
  set list(value: unknown) {
    given.push(value)
  }
}

const { language, save, stored, run, faults } = await openHookedWorld(t, [EmployeeEntity, TagEntity])

t.beforeEach(() => {
  calls.length = 0
  stops.clear()
  effects.clear()
})
const rowOf = (bytes: Uint8Array): RowView => run(() => new RowView(language.binding('Employee').layout, bytes))
const stampOf = (key: number): number => run(ds => ds.Employee!.get(key)!.getStamp())
const employee = (key: number, values: object) => ({ __KEY: key, __STAMP: stampOf(key), ...values })

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

t.test('P5.1 wrong values are reported as without events', async t => {
  const [saved] = save(employee(2, { salary: 'much', nmae: 1, secret: 'x' })).entities
  t.same(
    saved!.failure?.error.entries.map(({ errCode }) => errCode),
    [1508, 1500, 1500, 1517],
  )
  calls.length = 0
  t.same(save({ __KEY: 99, __STAMP: 1, salary: 2 }).entities[0]!.failure?.status.status, 5)
  t.same(calls, [], 'no code runs for an entity that does not exist')
  t.same(
    save([1, null]).entities.map(({ failure }) => failure?.error.entries[0]?.errCode),
    [1806, 1806],
  )
})

t.test('P5.1 keys and stamps that are objects or nested arrays are refused like other invalid ones', async t => {
  const nested = `${'['.repeat(100)}${']'.repeat(100)}`
  for (const odd of [nested, '{"toString":1,"valueOf":1}']) {
    const body = Buffer.from(`[{"__KEY":${odd},"__STAMP":1},{"__KEY":1,"__STAMP":${odd},"salary":2}]`)
    const { entities } = save([], { body })
    t.same(
      entities.map(({ failure }) => failure?.status.status),
      [5, 2],
    )
  }
})

t.test('a body that is nested too deep is refused before anything is saved', async t => {
  const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const stamp = stampOf(1)
  const body = Buffer.from(
    `[{"__KEY":1,"__STAMP":${stamp},"salary":3},{"__KEY":1,"__STAMP":${stamp},"notes":${nested}}]`,
  )
  t.throws(() => save([], { body }), { message: /nested deeper than 103 levels/ })
  t.equal(stampOf(1), stamp)
})

t.test(
  'P5.4 and P5.5 an entity that is stopped does not affect the others, or fails all of them when atomic',
  async t => {
    effects.set('validateSave', entity => {
      if (entity.firstName === 'Bad') stops.set('validateSave', { errCode: 9, message: 'bad' })
      else stops.delete('validateSave')
    })
    const body = () => [employee(1, { firstName: 'Good' }), employee(2, { firstName: 'Bad' })]
    const atomic = save(body(), { atomic: true }).entities
    t.same([!!atomic[0]!.failure, !!atomic[1]!.failure], [false, true])
    t.equal(stored(1)!.firstName, 'Ada')
    const single = save(body()).entities
    t.same([!!single[0]!.failure, !!single[1]!.failure], [false, true])
    t.equal(stored(1)!.firstName, 'Good')
    save(employee(1, { firstName: 'Ada' }))
  },
)

t.test('P5.1 an entity that occurs twice has the changes of the first occurrence the second time', async t => {
  const seen: unknown[] = []
  effects.set('validateSave', entity => void seen.push([entity.salary, entity.firstName]))
  const stamp = stampOf(1)
  const { entities } = save([
    { __KEY: 1, __STAMP: stamp, salary: 7 },
    { __KEY: 1, __STAMP: stamp + 1, firstName: 'A.' },
  ])
  t.same(
    entities.map(({ failure }) => failure),
    [undefined, undefined],
  )
  t.same(seen, [
    [7, 'Ada'],
    [7, 'A.'],
  ])
})

t.test('P5.5 the same holds in an atomic request, which is kept as a whole or not at all', async t => {
  const seen: unknown[][] = []
  effects.set('validateSave', entity => void seen.push([entity.lastName, entity.salary, entity.firstName]))
  const [stamp, before] = [stampOf(1), stored(1)!]
  const body = (last: object) => [
    { __KEY: 1, __STAMP: stamp, salary: 8 },
    employee(2, { lastName: 'Other' }),
    { __KEY: 1, __STAMP: stamp + 1, firstName: 'B.', ...last },
  ]
  calls.length = 0
  const failed = save(body({ salary: 'much' }), { atomic: true }).entities
  t.same(
    failed.map(({ failure }) => failure?.error.entries[0]?.errCode),
    [undefined, undefined, 1508],
  )
  t.same(calls.filter(call => call.startsWith('afterSave')).length, 3)
  t.equal(rowOf(failed[0]!.row!).stamp, stamp, 'shown with the old stamp')
  t.same(stored(1), before)

  seen.length = 0
  const { entities } = save(body({}), { atomic: true })
  t.same(
    entities.map(({ failure }) => failure),
    [undefined, undefined, undefined],
  )
  t.same(
    seen.filter(([lastName]) => lastName === 'Lovelace'),
    [
      ['Lovelace', 8, before.firstName],
      ['Lovelace', 8, 'B.'],
    ],
  )
  t.match(stored(1), { salary: 8, firstName: 'B.' })
  t.equal(stampOf(1), stamp + 2)
})

t.test('P5.5 entities that were not kept are shown with their new values and old stamps', async t => {
  const [stamp, before] = [stampOf(1), stored(1)!]
  const body = [
    { __KEY: 1, __STAMP: stamp, salary: 9 },
    { __KEY: 1, __STAMP: stamp + 1, firstName: 'C.' },
    { lastName: 'Early', managerID: 500 },
  ]
  const { entities } = save(body, { atomic: true })
  t.same(
    entities.map(({ failure }) => failure?.error.entries.map(({ errCode }) => errCode).at(-1)),
    [undefined, undefined, 1534],
  )
  t.same(stored(1), before)
})

t.test('P5.5 an entity that becomes hidden meanwhile is answered like a missing one', async t => {
  effects.clear()
  class Employee extends DataClass('Employee') {
    @event('restrict') own() {
      return this.query('salary != 1')
    }
  }
  const world = await openHookedWorld(t, [Employee, EmployeeEntity])
  effects.set('validateSave', () => world.other({ __KEY: 2, __STAMP: 1, salary: 1 }))
  const [hidden] = world.save({ __KEY: 2, __STAMP: 1, firstName: 'X' }).entities
  const [missing] = world.save({ __KEY: 99, __STAMP: 1, firstName: 'X' }).entities
  t.equal(world.stored(2)?.salary, undefined, 'it is hidden now')
  t.equal(hidden!.row, undefined)
  t.equal(JSON.stringify(hidden).replaceAll('2', '99'), JSON.stringify(missing))
})

t.test('P5.6 validate and refresh run the events and write nothing', async t => {
  const before = stored(3)
  for (const mode of ['validate', 'refresh'] as const) {
    calls.length = 0
    t.equal(save(employee(3, { lastName: 'X' }), { mode }).entities[0]!.failure, undefined)
    t.same(calls, ['touched any "lastName"', 'validateSave', 'saving lastName', 'saving'])
    t.same(stored(3), before)
  }
  stops.set('validateSave', { errCode: 9, message: 'bad' })
  t.ok(save(employee(3, { lastName: 'X' }), { mode: 'validate' }).entities[0]!.failure)
})

t.test('P5.6 an entity that occurs twice in a preview is not written either, atomic or not', async t => {
  const before = stored(3)
  const twice = [employee(3, { lastName: 'X' }), employee(3, { lastName: 'Y' })]
  for (const mode of ['validate', 'refresh'] as const) {
    for (const atomic of [true, false]) {
      save(twice, { mode, atomic })
      t.same(stored(3), before)
    }
  }
})

t.test('new entities are sent to the writer together', async t => {
  const sent = t.capture(language.writes, 'save', language.writes.save.bind(language.writes))
  save([{ lastName: 'One' }, { lastName: 'Two' }, employee(3, {}), employee(2, {})])
  t.equal(sent().length, 1)
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

t.test('P3.8 a stored attribute is computed at every save and never set by clients', async t => {
  const of = (key: number) => stored(key)!.label
  save({ ID: 40, firstName: 'New', lastName: 'One' })
  t.equal(of(40), 'One, New -')
  save(employee(40, { firstName: 'Newer' }))
  t.equal(of(40), 'One, Newer -')
  run(ds => {
    const entity = ds.Employee!.get(40)!
    entity.lastName = 'Two'
    t.equal(entity.save().success, true)
    t.equal(ds.Employee!.query('label = "Two, Newer -"').length, 1)
  })
  t.equal(of(40), 'Two, Newer -')
})

t.test('P3.8 a set handler receives what a client sends', async t => {
  t.equal(save(employee(40, { label: 'Three, Third' })).entities[0]!.failure, undefined)
  t.match(stored(40), { lastName: 'Three', firstName: 'Third', label: 'Three, Third -' })
  const [refused] = save(employee(40, { monthly: 3 })).entities
  t.match(refused!.failure?.error.entries[0], { errCode: 1516 })
})

t.test(
  'integers beyond 2^53 are exact for long64 attributes, and doubles elsewhere, in bodies of several slices too',
  async t => {
    const large = '9007199254740993'
    const id = 'A'.repeat(32)
    const body = Buffer.from(
      `[{"__KEY":"${id}","__STAMP":1,"größe":${large}},{"__KEY":"${id}","__STAMP":2,"large":${large},"list":[${large}]}]`,
    )
    save({ id }, { dataClass: 'Tag' })
    const { entities } = save([], { dataClass: 'Tag', body })
    t.same(
      entities.map(({ failure }) => failure),
      [undefined, undefined],
    )
    t.strictSame(given, [9007199254740993n, [9007199254740992]])
    t.equal(
      run(ds => ds.Tag!.get(id)!.größe),
      9007199254740993n,
    )
  },
)

t.test('P3.8 values that are not stored are computed when they are read, once per call', async t => {
  run(ds => {
    calls.length = 0
    t.equal(ds.Employee!.query('monthly = 10000').first()?.ID, 4)
    const asked = calls.length
    t.equal(ds.Employee!.query('monthly > 9000').length, 1)
    t.equal(calls.length, asked)
    t.same(ds.Employee!.query('boss = lovelace order by boss').extract('ID'), [2, 3])
    t.notOk(calls.includes('boss'), 'handlers define how to find and order them')
    const [monthly, salary] = ['monthly', 'salary'].map(name => Number(ds.Employee!.all().sum(name)))
    t.equal(monthly, salary! / 12)
  })
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
