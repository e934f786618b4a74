/** Events of saves of several entities, and of saves that are only shown. */
import t from 'tap'
import { DataClass, event } from '../../../../../engine/author/data-api/classes.ts'
import { calls, EmployeeEntity, effects, stops } from './staff-code.ts'
import { openHookedWorld } from './world.ts'
import { openStaffWorld } from './staff-world.ts'

const { codeSession, save, stored, rowOf, stampOf, employee } = await openStaffWorld(t)

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
  const sent = t.capture(codeSession.writes, 'save', codeSession.writes.save.bind(codeSession.writes))
  save([{ lastName: 'One' }, { lastName: 'Two' }, employee(3, {}), employee(2, {})])
  t.equal(sent().length, 1)
})
