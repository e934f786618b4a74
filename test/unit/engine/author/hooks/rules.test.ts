/** Rules of events: what they have read still holds when the save is done, and what they write belongs to it. */
import t from 'tap'
import { DataStore, ds, Entity, event, job } from '../../../../../engine/author/data-api/classes.ts'
import { internals } from '../../../../../engine/author/data-api/entity-internals.ts'
import { jobKey } from '../../../../../engine/jobs/job.ts'
import type { EventError } from '../../../../../engine/author/declare/event-types.ts'
import { type HookedWorld, openHookedWorld } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
type Loose = any
type Code = (entity: Loose) => unknown

/** Code of the events of employees, by kind. */
const code = new Map<string, Code>()
const calls: string[] = []
const run = (kind: string, entity: Loose): EventError | undefined => {
  calls.push(`${kind} ${entity.getKey()}`)
  return (code.get(kind)?.(entity) ?? undefined) as EventError | undefined
}

class EmployeeEntity extends Entity('Employee') {
  @event('constructor') made() {
    code.get('constructor')?.(this)
  }
  @event('touched', 'lastName') assigned() {
    code.get('touched')?.(this)
  }
  @event('validateSave') validateSave() {
    return run('validateSave', this)
  }
  @event('saving') saving() {
    return run('saving', this)
  }
  @event('afterSave') afterSave({ saveStatus }: { saveStatus: string }) {
    run(`afterSave ${saveStatus}`, this)
  }
  @event('validateDrop') validateDrop() {
    return run('validateDrop', this)
  }
  @event('dropping') dropping() {
    return run('dropping', this)
  }
}

class JobStore extends DataStore {
  @job note() {}
}

class CompanyEntity extends Entity('Company') {
  @event('saving') saving() {
    return run('company', this)
  }
}

const NO: EventError = { errCode: 99, message: 'no', seriousError: true }
const named = (lastName: string): number => ds.Employee!.query('lastName = :1', lastName).length
const codes = ({ entities }: ReturnType<HookedWorld['save']>) =>
  entities.map(({ failure }) => failure?.error.entries[0]?.errCode)

t.beforeEach(() => {
  code.clear()
  calls.length = 0
})

const open = (t: Parameters<typeof openHookedWorld>[0]) => openHookedWorld(t, [EmployeeEntity])
const unique: Code = entity => (named(entity.lastName) > 0 ? NO : undefined)
/** Runs work in the first run of an event alone. */
function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

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

/** Deletes employees as a client does. */
const drop = (world: HookedWorld, keys: readonly number[], atomic = false) =>
  world.run(() => {
    const table = world.language.snapshots.current.table(world.language.binding('Employee').dataClass)
    const rowIds = Uint32Array.from(keys, key => table.findKey(key)!)
    return world.language.writes.drop({ dataClass: 'Employee', rowIds, atomic })
  })

for (const atomic of [false, true]) {
  t.test(`drop events see the deletions before theirs${atomic ? ', all or nothing' : ''}`, async t => {
    const world = await open(t)
    const count = () => world.run(() => ds.Employee!.all().length)
    const before = count()
    code.set('validateDrop', () => (ds.Employee!.all().length < before ? NO : undefined))
    t.match(drop(world, [5, 6], atomic), { deleted: atomic ? 0 : 1, error: { entries: [{ errCode: 99 }, {}] } })
    t.equal(count(), atomic ? before : before - 1)
  })
}

t.test('what a drop event has read still holds, and what it writes belongs to the deletion', async t => {
  const world = await open(t)
  const meanwhile = once(() => world.other({ lastName: 'New' }))
  code.set('validateDrop', () => {
    const found = named('New')
    meanwhile()
    return found > 0 ? NO : undefined
  })
  t.match(drop(world, [6]), { deleted: 0, error: { entries: [{ errCode: 99 }, {}] } })
  code.clear()
  const before = world.stored(1)!.salary as number
  code.set('dropping', entity => {
    const first = ds.Employee!.get(1) as Loose
    first.salary += 1
    first.save()
    return entity.getKey() === 6 ? NO : undefined
  })
  t.match(drop(world, [6]), { deleted: 0 })
  t.equal(world.stored(1)!.salary, before)
  t.match(drop(world, [5, 6]), { deleted: 1 })
  t.equal(world.stored(1)!.salary, before + 1)
})

t.test('entities that refer to one another are dropped together, also when their events write', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity], model => {
    model.dataClasses.Employee.attributes.manager.onDelete = 'restrict'
  })
  const trace = () => world.stored(1)!.salary
  code.set('dropping', () => {
    const first = ds.Employee!.get(1) as Loose
    first.salary += 1
    first.save()
  })
  const before = trace() as number
  t.match(drop(world, [4]), { deleted: 0, error: { entries: [{ errCode: 1120 }, {}] } }, 'employee 6 refers to it')
  t.equal(trace(), before)
  t.same(
    calls.filter(each => !each.includes('Save') && !each.includes('saving')),
    ['validateDrop 4', 'dropping 4', 'validateDrop 4', 'dropping 4'],
  )
  t.match(drop(world, [4, 6]), { deleted: 2, error: undefined })
  t.equal(trace(), before + 2)
})

t.test('a drop event that reads one other entity sees that it has been deleted before', async t => {
  const world = await open(t)
  // Each needs the other.
  code.set('validateDrop', entity => (ds.Employee!.get(entity.getKey() === 5 ? 6 : 5) ? undefined : NO))
  t.match(drop(world, [5, 6]), { deleted: 1, error: { entries: [{ errCode: 99 }, {}] } })
})

t.test('afterSave of what events save runs once in ds.transaction, and not after a refused save of code', async t => {
  const world = await open(t)
  code.set('saving', entity => {
    if (entity.getKey() === 1) return undefined
    const first = ds.Employee!.get(1) as Loose
    first.salary += 1
    first.save()
    return entity.firstName === 'refused' ? NO : undefined
  })
  const saved = () => calls.filter(each => each === 'afterSave success 1').length
  world.language.scope.run({}, () => {
    ds.transaction(() => ds.Employee!.new({ lastName: 'A' }).save())
    t.equal(saved(), 1)
    t.match(ds.Employee!.new({ lastName: 'B', firstName: 'refused' }).save(), { success: false })
    t.equal(saved(), 1)
    ds.Employee!.new({ lastName: 'C' }).save()
    t.equal(saved(), 2)
  })
})

t.test('events that run again find objects as they were', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity, CompanyEntity])
  const meanwhile = once(() => world.other({ lastName: 'Other' }))
  code.set('company', entity => {
    entity.info.tags.push('seen')
    named('Other')
    meanwhile()
  })
  world.run(() => {
    const company = ds.Company!.get(1) as Loose
    company.info.tags.push('own')
    t.match(company.save(), { success: true })
    t.same((ds.Company!.get(1) as Loose).info.tags, ['big', 'old', 'own', 'seen'])
  })
})

const conditions: [string, (stamp: number) => object, number][] = [
  ['no condition', () => ({}), 1],
  ['its version', stamp => ({ ifMatch: [`${stamp}`] }), 1],
  ['another version', stamp => ({ ifMatch: [`${stamp - 1}`] }), 0],
  ['its stamp', stamp => ({ stamps: Uint32Array.of(stamp) }), 1],
  ['an old stamp', stamp => ({ stamps: Uint32Array.of(stamp - 1) }), 0],
]
for (const isNested of [false, true]) {
  t.test(`an entity that the events of its cascade save is dropped${isNested ? ' in ds.transaction' : ''}`, async t => {
    for (const [name, conditionsOf, deleted] of conditions) {
      const world = await openHookedWorld(t, [EmployeeEntity], model => {
        model.dataClasses.Employee.attributes.manager.onDelete = 'cascade'
      })
      code.set('dropping', ({ manager }) => {
        if (!manager) return
        manager.salary += 1
        manager.saveOrThrow()
      })
      // The manager of employee 6.
      const key = 4
      const before = world.stored(key)!.salary
      const result = world.run(() => {
        const rowIds = Uint32Array.of(internals.rowId(ds.Employee!.get(key) as Loose)!)
        const stamp = (ds.Employee!.get(key) as Loose).getStamp()
        const drop = () =>
          world.language.writes.drop({ dataClass: 'Employee', rowIds, atomic: false, ...conditionsOf(stamp) })
        return isNested ? ds.transaction(drop) : drop()
      })
      t.equal(result.deleted > 0, deleted > 0, name)
      t.equal(world.stored(key)?.salary, deleted > 0 ? undefined : before, name)
      t.equal(world.stored(6) === undefined, deleted > 0, name)
    }
  })
}

const cascades: [string, Code][] = [
  ['all of it is dropped', entity => void entity.directReports.drop()],
  ['one is dropped', entity => entity.directReports.first()?.dropOrThrow()],
  [
    'one is added',
    entity => {
      if (entity.getKey() === 4) ds.Employee!.new({ lastName: 'Added', manager: entity }).saveOrThrow()
    },
  ],
]
t.test('drop events may change what is deleted with their entity', async t => {
  for (const [name, change] of cascades) {
    calls.length = 0
    const world = await openHookedWorld(t, [EmployeeEntity], model => {
      model.dataClasses.Employee.attributes.manager.onDelete = 'cascade'
    })
    code.set('dropping', change)
    const before = world.run(() => ds.Employee!.all().length)
    t.match(drop(world, [4]), { deleted: 1, error: undefined }, name)
    t.equal(
      world.run(() => ds.Employee!.all().length),
      before - 2,
      name,
    )
    t.equal(world.stored(6), undefined, name)
  }
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
  const { records } = world.language.options.store
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
