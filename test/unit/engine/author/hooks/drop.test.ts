import t from 'tap'
import { calculated, DataClass, Entity, event } from '../../../../../engine/author/data-api/classes.ts'
import type { DeleteResult } from '../../../../../engine/write/contract/requests.ts'
import { calls, EmployeeEntity, effects, stops } from './staff-code.ts'
import { type HookedWorld, openHookedWorld } from './world.ts'

t.beforeEach(() => {
  calls.length = 0
  stops.clear()
  effects.clear()
})

/** Deletes entities as a client does. */
function drop({ run, codeSession }: HookedWorld, keys: readonly number[], atomic = false): DeleteResult {
  return run(() => {
    const table = codeSession.snapshots.current.table(codeSession.binding('Employee').dataClass)
    const rowIds = Uint32Array.from(keys, key => table.findKey(key)!)
    return codeSession.writes.drop({ dataClass: 'Employee', rowIds, atomic })
  })
}

t.test('P9 the events of a drop run in order', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  t.same(drop(world, [6]), { kind: 'delete', deleted: 1 })
  t.same(calls, ['validateDrop', 'dropping salary', 'dropping', 'afterDrop ["success",6]'])
  t.equal(world.stored(6), undefined)
})

t.test(
  'P9 an entity that loses its reference is not dropped, and its calculated attributes are computed again',
  async t => {
    const world = await openHookedWorld(t, [EmployeeEntity])
    world.save({ __KEY: 6, __STAMP: 1, firstName: 'Ada' })
    t.equal(world.stored(6)!.label, 'Smith, Ada 4')
    calls.length = 0
    t.equal(drop(world, [4]).deleted, 1)
    t.same(calls, ['validateDrop', 'dropping salary', 'dropping', 'afterDrop ["success",4]'])
    t.match(world.stored(6), { managerID: null, label: 'Smith, Ada -' })
  },
)

const failures = [
  { kind: 'validateDrop', serious: false, status: 7, errors: [3, 1518], calls: ['validateDrop'] },
  { kind: 'validateDrop', serious: true, status: 8, errors: [3, 1518], calls: ['validateDrop'] },
  {
    kind: 'dropping',
    serious: false,
    status: 4,
    errors: [3, 1518],
    calls: ['validateDrop', 'dropping salary', 'dropping'],
  },
] as const
for (const { kind, serious, status, errors, calls: expected } of failures) {
  t.test(`P9 an error of ${kind}${serious ? ', serious,' : ''} keeps the entity`, async t => {
    const world = await openHookedWorld(t, [EmployeeEntity])
    stops.set(kind, { errCode: 3, message: 'no', seriousError: serious })
    const { deleted, error } = drop(world, [6])
    t.equal(deleted, 0)
    t.same(
      error?.entries.map(({ errCode }) => errCode),
      errors,
    )
    t.equal(error?.saveStatus?.status, status)
    t.same(calls, [...expected, 'afterDrop ["failed",6]'])
    t.ok(world.stored(6))
    world.run(ds => t.match(ds.Employee!.get(6)!.drop(), { success: false, status }))
  })
}

t.test('P5.7 entities that no event keeps are dropped all the same, or none when atomic', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  effects.set('validateDrop', entity => {
    if (entity.ID === 5) stops.set('validateDrop', { errCode: 3, message: 'no' })
    else stops.delete('validateDrop')
  })
  t.match(drop(world, [6, 5], true), { deleted: 0, error: { entries: [{ errCode: 3 }, { errCode: 1518 }] } })
  t.match(drop(world, [6, 5]), { deleted: 1, error: { entries: [{ errCode: 3 }, { errCode: 1518 }] } })
  t.equal(world.stored(6), undefined)
  t.ok(world.stored(5))
})

t.test('P9 a cascaded entity has its events too, and an error keeps the entity that it refers to', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity], model => {
    model.dataClasses.Employee.attributes.manager.onDelete = 'cascade'
  })
  effects.set('validateDrop', entity => {
    if (entity.ID === 6) stops.set('validateDrop', { errCode: 3, message: 'no' })
  })
  t.equal(drop(world, [4]).deleted, 0)
  t.ok(world.stored(4))
  t.same(
    calls.filter(call => call.startsWith('after')),
    ['afterDrop ["failed",6]'],
  )
  stops.clear()
  effects.clear()
  calls.length = 0
  t.equal(drop(world, [4]).deleted, 1)
  t.same([world.stored(4), world.stored(6)], [undefined, undefined])
  t.same(
    calls.filter(call => call.startsWith('after')),
    ['afterDrop ["success",4]', 'afterDrop ["success",6]'],
  )
})

t.test('P9 events of a cascaded entity see its values, even if the caller may not', async t => {
  class Employee extends DataClass('Employee') {
    @event('restrict') own() {
      return this.query('ID != 6')
    }
  }
  const world = await openHookedWorld(t, [Employee, EmployeeEntity], model => {
    model.dataClasses.Employee.attributes.manager.onDelete = 'cascade'
  })
  const seen: unknown[] = []
  effects.set('dropping', entity => void seen.push(entity.lastName))
  t.equal(
    world.run(ds => ds.Employee!.get(6)),
    null,
  )
  t.equal(drop(world, [4]).deleted, 1)
  t.same(seen, ['Hopper', 'Smith'])
  t.same(
    calls.filter(call => call.startsWith('after')),
    ['afterDrop ["success",4]', 'afterDrop ["success",6]'],
  )
})

t.test(
  'P3.8 calculated attributes of an entity of another dataclass that loses its reference are computed again',
  async t => {
    class EmployeeEntity extends Entity('Employee') {
      @calculated({ type: 'string', stored: true }) get place(): string {
        return `at ${this.employerID ?? 'home'}`
      }
    }
    const world = await openHookedWorld(t, [EmployeeEntity], model => {
      model.dataClasses.Employee.attributes.employer.onDelete = 'setNull'
    })
    world.save({ __KEY: 1, __STAMP: 1, notes: 'new' })
    t.equal(world.stored(1)!.place, 'at 1')
    t.match(
      world.run(ds => ds.Company!.get(1)!.drop()),
      { success: true },
    )
    t.match(world.stored(1), { employerID: null, place: 'at home' })
  },
)

t.test('P9 without code for a drop the writer receives the request unchanged', async t => {
  const { hooks, codeSession, run } = await openHookedWorld(t, [EmployeeEntity])
  const request = { dataClass: 'Tag', rowIds: Uint32Array.of(0), atomic: false }
  const answer = { kind: 'delete', deleted: 1 } as const
  const sent: unknown[] = []
  run(() =>
    hooks.drop(request, codeSession, each => {
      sent.push(each)
      return answer
    }),
  )
  t.equal(sent[0], request)
})

t.test('P9 an entity that is changed meanwhile is examined again', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  const seen: unknown[] = []
  effects.set('dropping', entity => {
    seen.push(entity.firstName)
    if (seen.length > 1) return
    // A concurrent save by another thread.
    world.other({ __KEY: 6, __STAMP: 1, firstName: 'New' })
  })
  t.equal(drop(world, [6]).deleted, 1)
  t.same(seen, ['ada', 'New'])
})

t.test(
  'P9 a drop whose entity changes during its events runs them again, at last while no other client writes',
  async t => {
    const world = await openHookedWorld(t, [EmployeeEntity])
    let runs = 0
    effects.set('dropping', () => {
      if (++runs <= 2) world.other({ __KEY: 6, __STAMP: runs, firstName: `${runs}` })
    })
    t.match(drop(world, [6]), { deleted: 1, error: undefined })
    t.equal(runs, 3)
  },
)

t.test('P9 a drop does not run code of an unrelated dataclass', async t => {
  class TagEntity extends Entity('Tag') {
    @event('validateDrop') never() {
      return { errCode: 1, message: 'tags stay' }
    }
  }
  const world = await openHookedWorld(t, [TagEntity])
  t.equal(drop(world, [6]).deleted, 1)
})

t.test('P9 an entity does not drop itself in its own events', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  let status: unknown
  effects.set('dropping', entity => {
    status = entity.drop()
  })
  t.equal(drop(world, [6]).deleted, 1)
  t.match(status, { success: false, status: 4, errors: [{ errCode: 1562 }] })
})

t.test('an entity that an event keeps does not shift the stamps of the others', async t => {
  class EmployeeEntity extends Entity('Employee') {
    @event('validateDrop') keep() {
      return this.getKey() === 4 ? { errCode: 3, message: 'no' } : undefined
    }
  }
  const world = await openHookedWorld(t, [EmployeeEntity])
  world.other({ __KEY: 6, __STAMP: 1, firstName: 'Ada' })
  const { deleted } = world.run(() => {
    const table = world.codeSession.snapshots.current.table(world.codeSession.binding('Employee').dataClass)
    const rowIds = Uint32Array.of(table.findKey(4)!, table.findKey(6)!)
    return world.codeSession.writes.drop({ dataClass: 'Employee', rowIds, stamps: Uint32Array.of(1, 2), atomic: false })
  })
  t.equal(deleted, 1)
  t.ok(world.stored(4))
  t.equal(world.stored(6), undefined)
})
