/** Values that code computes or receives when an entity is saved. */
import t from 'tap'
import { calculated, Entity } from '../../../../../engine/author/data-api/classes.ts'
import { calls } from './staff-code.ts'
import { openStaffWorld } from './staff-world.ts'

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

const { save, stored, run, employee } = await openStaffWorld(t, [TagEntity])

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
