/** Rules of events in saves: what they have read still holds, and what they write belongs to the save. */
import t from 'tap'
import { DataStore, ds, job } from '../../../../../engine/author/data-api/classes.ts'
import { jobKey } from '../../../../../engine/jobs/job.ts'
import { type HookedWorld, openHookedWorld } from './world.ts'
import { calls, code, type Code, EmployeeEntity, type Loose, named, NO, once, open } from './rules-code.ts'

class JobStore extends DataStore {
  @job note() {}
}

const codes = ({ entities }: ReturnType<HookedWorld['save']>) =>
  entities.map(({ failure }) => failure?.error.entries[0]?.errCode)

t.beforeEach(() => {
  code.clear()
  calls.length = 0
})

const unique: Code = entity => (named(entity.lastName) > 0 ? NO : undefined)

t.test('a query that would find something else by now is asked again', async t => {
  const world = await open(t)
  const meanwhile = once(() => world.other({ lastName: 'New' }))
  code.set('validateSave', entity => {
    const refused = unique(entity)
    meanwhile()
    return refused
  })
  t.same(codes(world.save({ lastName: 'New' })), [99])
  t.same(calls, ['validateSave null', 'saving null', 'validateSave null', 'afterSave failed null'])
})

t.test('single entities count alone: others of their dataclass may change', async t => {
  const world = await open(t)
  const validations = () => calls.filter(each => each === 'validateSave 6').length
  for (const [changed, runs] of [
    [5, 1],
    [4, 2],
  ] as const) {
    calls.length = 0
    const meanwhile = once(() => world.other({ __KEY: changed, __STAMP: 1, salary: 1 }))
    code.set('validateSave', ({ manager }) => {
      const refused = manager.salary === 1 ? NO : undefined
      meanwhile()
      return refused
    })
    const stamp = world.run(() => (ds.Employee!.get(6) as Loose).getStamp())
    t.same(codes(world.save({ __KEY: 6, __STAMP: stamp, firstName: `${changed}` })), [runs === 2 ? 99 : undefined])
    t.equal(validations(), runs)
  }
})

t.test('when others change it again and again, events run at last while no other client writes', async t => {
  const world = await open(t)
  code.set('saving', () => {
    named('New')
    if (calls.length <= 4) world.other({ lastName: 'Other' })
  })
  t.same(codes(world.save({ lastName: 'New' })), [undefined])
  t.same(calls.filter(each => each.startsWith('saving')).length, 3)
})

for (const atomic of [false, true]) {
  t.test(`elements see those before them${atomic ? ', all or nothing' : ''}`, async t => {
    const world = await open(t)
    code.set('validateSave', unique)
    const body = [{ lastName: 'Ada' }, { lastName: 'Bob' }, { lastName: 'Ada' }]
    // The second time, it is known that the events read their own dataclass.
    for (const lastName of ['Ada', 'Eve']) {
      const sent = [
        { ...body[0], lastName },
        { ...body[1], lastName: `${lastName} 2` },
        { ...body[2], lastName },
      ]
      t.same(codes(world.save(sent, { atomic })), [undefined, undefined, 99])
      t.equal(
        world.run(() => named(lastName)),
        atomic ? 0 : 1,
      )
    }
  })
}

t.test('what an event writes is kept with the save, or not at all', async t => {
  const world = await open(t)
  const salary = () => world.stored(1)!.salary as number
  const before = salary()
  code.set('saving', entity => {
    if (entity.getKey() === 1) return undefined
    const first = ds.Employee!.get(1) as Loose
    first.salary += 1
    if (!first.save().success) return { errCode: 5, message: 'not saved' }
    return entity.firstName === 'refused' ? NO : undefined
  })
  const sends = [
    { body: { lastName: 'A' }, kept: 1, codes: [undefined] },
    { body: { lastName: 'A' }, mode: 'validate', kept: 0, codes: [undefined] },
    { body: { lastName: 'A' }, mode: 'refresh', kept: 0, codes: [undefined] },
    { body: { lastName: 'A', firstName: 'refused' }, kept: 0, codes: [99] },
    { body: [{ lastName: 'B' }, { lastName: 'C', firstName: 'refused' }], kept: 1, codes: [undefined, 99] },
    {
      body: [{ lastName: 'B' }, { lastName: 'C', firstName: 'refused' }],
      atomic: true,
      kept: 0,
      codes: [undefined, 99],
    },
    { body: [{ lastName: 'B' }, { lastName: 'C' }], atomic: true, kept: 2, codes: [undefined, undefined] },
    // The writer refuses it after its events.
    { body: { firstName: 'A' }, kept: 0, codes: [1116] },
  ] as const
  let expected = before
  for (const { body, kept, codes: wanted, ...request } of sends) {
    t.match(codes(world.save(body, request)), wanted, JSON.stringify({ body, ...request }))
    expected += kept
    t.equal(salary(), expected, JSON.stringify({ body, ...request }))
  }
})

t.test('code saves with the same rules, and events that run again find the values from before', async t => {
  const world = await open(t)
  const meanwhile = once(() => world.other({ lastName: 'Other' }))
  code.set('saving', entity => {
    entity.firstName += '!'
    named('Other')
    meanwhile()
  })
  world.run(() => {
    const entity = ds.Employee!.new({ firstName: 'Ada', lastName: 'New' }) as Loose
    t.match(entity.save(), { success: true })
    t.equal(entity.firstName, 'Ada!')
  })
  t.equal(calls.filter(each => each.startsWith('saving')).length, 2)
  t.equal(calls.filter(each => each.startsWith('afterSave')).length, 1)
})

t.test('entities of one collection see those before them', async t => {
  const world = await open(t)
  code.set('validateSave', unique)
  const saved = world.run(() => ds.Employee!.fromCollection([{ lastName: 'X' }, { lastName: 'Y' }, { lastName: 'X' }]))
  t.equal(
    world.run(() => saved.length),
    2,
  )
})

t.test('a related entity that code has read before is read again by the events', async t => {
  const world = await open(t)
  const seen: number[] = []
  code.set('validateSave', entity => {
    if (entity.manager) seen.push(entity.manager.salary)
  })
  world.run(() => {
    const manager = ds.Employee!.get(1) as Loose
    t.not(manager.salary, 77)
    world.other({ __KEY: 1, __STAMP: 1, salary: 77 })
    const entity = ds.Employee!.new({ lastName: 'New' }) as Loose
    entity.manager = manager
    t.match(entity.save(), { success: true })
    t.same(seen.at(-1), 77)
    manager.salary = 1
    t.match(manager.save(), { success: false }, 'it is stale, as before')
  })
})

t.test('an entity that an event has saved in place of the object of its caller can be saved by that', async t => {
  const world = await open(t)
  code.set('saving', entity => {
    if (!entity.manager) return
    entity.manager.salary = 50
    entity.manager.save()
  })
  world.run(() => {
    const manager = ds.Employee!.get(1) as Loose
    const entity = ds.Employee!.new({ lastName: 'New', manager }) as Loose
    t.match(entity.save(), { success: true })
    t.equal(manager.salary, 50)
    manager.firstName = 'Boss'
    t.match(manager.save(), { success: true })
  })
})

t.test('a related entity is as the event has left it, whichever object it has changed', async t => {
  const world = await open(t)
  const salaries: number[] = []
  code.set('saving', entity => {
    if (!entity.manager) return undefined
    const note = () => salaries.push(entity.manager?.salary ?? null)
    const other = (salary: number) => {
      const manager = ds.Employee!.get(5) as Loose
      manager.salary = salary
      return manager.save().success
    }
    const kept = entity.manager
    note()
    ds.Employee!.new({ lastName: 'Unrelated' }).save()
    t.equal(entity.manager, kept, 'the same object while it is current')
    t.ok(other(20))
    note()
    t.ok(ds.transaction(() => other(30)))
    note()
    t.notOk(
      ds.transaction(() => other(40) && false),
      'undone',
    )
    note()
    entity.manager.salary += 1
    note()
    t.ok(entity.manager.save().success, 'it is the current one that is saved')
    t.ok(ds.Employee!.get(5)!.drop().success)
    note()
    return entity.firstName === 'refused' ? NO : undefined
  })
  const sent = { lastName: 'New', managerID: 5, firstName: 'refused' }
  const before = world.stored(5)!.salary
  t.same(codes(world.save(sent)), [99])
  // The first run ended where it wrote.
  t.same(salaries, [before, before, 20, 30, 30, 31, null])
  t.equal(world.stored(5)!.salary, before)
})

t.test('events that save one another in a circle are refused, and the circle is named', async t => {
  const world = await open(t)
  const statuses: Loose[] = []
  code.set('saving', entity => {
    const other = ds.Employee!.get(entity.getKey() === 1 ? 2 : 1) as Loose
    other.salary += 1
    const status = other.save()
    statuses.push(status)
    return status.success ? undefined : NO
  })
  t.same(codes(world.save({ __KEY: 1, __STAMP: 1, salary: 3 })), [99])
  t.match(statuses[0].errors[0].message, 'Employee 1 → Employee 2 → Employee 1')
  t.equal(world.stored(2)!.salary === 3, false)
  statuses.length = 0
  code.set('saving', () => {
    statuses.push(ds.Employee!.new({ lastName: 'Next' }).save())
  })
  t.same(codes(world.save({ lastName: 'First' })), [undefined])
  t.match(statuses[0].errors[0].message, /a new Employee → a new Employee → .*a new Employee/)
})

t.test('afterSave of what events have saved runs when all of it has been committed', async t => {
  const world = await open(t)
  let isSeen: boolean | undefined
  code.set('saving', entity => {
    if (entity.getKey() === 1) return undefined
    const first = ds.Employee!.get(1) as Loose
    first.salary += 1
    first.save()
    return entity.firstName === 'refused' ? NO : undefined
  })
  code.set('afterSave success', entity => {
    if (entity.getKey() === 1) isSeen = named('Done') > 0
  })
  world.save({ lastName: 'Done' })
  t.equal(isSeen, true)
  isSeen = undefined
  world.save({ lastName: 'Other', firstName: 'refused' })
  t.equal(isSeen, undefined, 'nothing was saved')
})

const enqueuing = [
  { body: { lastName: 'A' }, kept: 2 },
  { body: { firstName: 'A' }, kept: 0 },
  { body: { lastName: 'A', firstName: 'refused' }, kept: 0 },
  { body: { lastName: 'A' }, mode: 'validate', kept: 0 },
  { body: { lastName: 'A' }, mode: 'refresh', kept: 0 },
  { body: [{ lastName: 'B' }, { lastName: 'C', firstName: 'refused' }], kept: 2 },
  { body: [{ lastName: 'B' }, { lastName: 'C', firstName: 'refused' }], atomic: true, kept: 0 },
] as const
t.test('jobs that the events of an assignment enqueue belong to the save', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity, JobStore])
  const enqueue: Code = () => void ds.enqueue((ds as Loose).note)
  const meanwhile = once(() => world.other({ lastName: 'Other' }))
  code.set('constructor', enqueue)
  code.set('touched', enqueue)
  code.set('validateSave', entity => {
    named('Other')
    meanwhile()
    return entity.firstName === 'refused' ? NO : undefined
  })
  const { records } = world.codeSession.options.store
  const enqueued = () => {
    records.refresh()
    return records.records(jobKey(''), 100).length
  }
  let expected = 0
  for (const { kept, ...sent } of enqueuing) {
    const { body, ...request } = sent
    world.save(body, request)
    expected += kept
    t.equal(enqueued(), expected, JSON.stringify(sent))
  }
})
