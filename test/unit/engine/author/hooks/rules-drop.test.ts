/** Rules of events in deletions: what they have read still holds, and what they write belongs to the deletion. */
import t from 'tap'
import { ds, Entity, event } from '../../../../../engine/author/data-api/classes.ts'
import { internals } from '../../../../../engine/author/data-api/entity-internals.ts'
import { type HookedWorld, openHookedWorld } from './world.ts'
import { calls, code, type Code, EmployeeEntity, type Loose, named, NO, once, open, run } from './rules-code.ts'

class CompanyEntity extends Entity('Company') {
  @event('saving') saving() {
    return run('company', this)
  }
}

t.beforeEach(() => {
  code.clear()
  calls.length = 0
})

/** Deletes employees as a client does. */
const drop = (world: HookedWorld, keys: readonly number[], atomic = false) =>
  world.run(() => {
    const table = world.codeSession.snapshots.current.table(world.codeSession.binding('Employee').dataClass)
    const rowIds = Uint32Array.from(keys, key => table.findKey(key)!)
    return world.codeSession.writes.drop({ dataClass: 'Employee', rowIds, atomic })
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
  world.codeSession.scope.run({}, () => {
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
          world.codeSession.writes.drop({ dataClass: 'Employee', rowIds, atomic: false, ...conditionsOf(stamp) })
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
