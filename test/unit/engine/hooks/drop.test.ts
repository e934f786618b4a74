import t from 'tap'
import { Entity, event } from '../../../../engine/language/classes.ts'
import type { DeleteResult } from '../../../../engine/write/requests.ts'
import { calls, EmployeeEntity, effects, stops } from './staff-code.ts'
import { type HookedWorld, openHookedWorld } from './world.ts'

t.beforeEach(() => {
  calls.length = 0
  stops.clear()
  effects.clear()
})

/** Deletes entities as a client does. */
function drop({ run, language }: HookedWorld, keys: readonly number[], atomic = false): DeleteResult {
  return run(() => {
    const table = language.snapshot.table(language.binding('Employee').dataClass)
    const rowIds = Uint32Array.from(keys, key => table.findKey(key)!)
    return language.drop({ dataClass: 'Employee', rowIds, atomic })
  })
}

t.test('P9 the events of a drop come in their order', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  t.same(drop(world, [6]), { kind: 'delete', deleted: 1 })
  t.same(calls, ['validateDrop', 'dropping salary', 'dropping', 'afterDrop ["success",6]'])
  t.equal(world.stored(6), undefined)
})

t.test(
  'P9 an entity that loses its reference is not dropped, and what is computed of it is computed again',
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

t.test('P5.7 what is not stopped goes all the same, or nothing does when atomic', async t => {
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

t.test('P9 an entity that cascades is asked too, and keeps what it hangs on', async t => {
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

t.test('P9 what somebody else changes meanwhile is looked at again', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  const seen: unknown[] = []
  effects.set('dropping', entity => {
    seen.push(entity.firstName)
    if (seen.length > 1) return
    // As another thread does it, behind the back of this one.
    world.other({ __KEY: 6, __STAMP: 1, firstName: 'New' })
  })
  t.equal(drop(world, [6]).deleted, 1)
  t.same(seen, ['ada', 'New'])
})

t.test('P9 code that has each look disturbed gives up', async t => {
  const world = await openHookedWorld(t, [EmployeeEntity])
  let stamp = 1
  effects.set('dropping', () => world.other({ __KEY: 6, __STAMP: stamp, firstName: `${stamp++}` }))
  t.match(drop(world, [6]), { deleted: 0, error: { entries: [{ errCode: 1121 }], httpStatus: 409 } })
  t.equal(stamp, 6)
})

t.test('P9 an entity without code goes with the code of those that cascade from it', async t => {
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
