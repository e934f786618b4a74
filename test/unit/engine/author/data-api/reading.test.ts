import t from 'tap'
import { passages } from '../../../../support/fixtures/passages.ts'
import { openWorld } from '../../../../support/engine/code-world.ts'

t.test('entities, attributes and relations', async t => {
  const { run } = await openWorld(t)

  t.test('get returns the entity with a key, or null', async t => {
    run(ds => {
      t.equal(ds.Employee!.get(1)?.lastName, 'Lovelace')
      t.equal(ds.Employee!.get('1')?.lastName, 'Lovelace')
      t.equal(ds.Employee!.get(99), null)
      t.equal(ds.Employee!.get('no number'), null)
    })
  })

  t.test('values have the JSON form of the protocol', async t => {
    run(ds => {
      const ada = ds.Employee!.get(1)!
      t.equal(ada.salary, 90_000)
      t.equal(ada.woman, true)
      t.equal(ada.birthDate, '1985-12-10T08:30:00.000Z')
      t.equal(ada.hired, '2010-01-04')
      t.equal(ada.dailyWork, 28_800_000)
      t.equal(ada.secret, 'hush')
      t.equal(ds.Employee!.get(5)?.salary, null)
      t.same(ds.Company!.get(1)?.info.address, { city: 'Paris' })
      t.equal(ds.Tag!.get('00000000000000000000000000000001')?.größe, 9223372036854775807n)
    })
  })

  t.test('relations lead to entities and selections', async t => {
    run(ds => {
      const kurt = ds.Employee!.get(2)!
      t.equal(kurt.employer.name, 'Acme')
      t.equal(kurt.employer, kurt.employer)
      t.equal(kurt.manager.manager, null)
      t.equal(kurt.employerName, 'Acme')
      t.equal(kurt.pay, 45_000)
      t.equal(kurt.employer.staff.length, 2)
      t.same(kurt.employer.staff.query('salary > :1', 50_000).extract('lastName'), ['Lovelace'])
      t.equal(ds.Employee!.get(5)?.employer, null)
    })
  })
})

t.test('selections', async t => {
  const { run } = await openWorld(t)

  t.test('a query takes values by number and by name, and may contain an order', async t => {
    run(ds => {
      const found = ds.Employee!.query('salary > :1 order by lastName', 30_000)
      t.same(found.extract('lastName'), ['Gödel', 'Hopper', 'Lovelace', "O'Reilly"])
      t.equal(found.isOrdered(), true)
      const named = ds.Employee!.query('lastName = :name and salary > :1', 1, { parameters: { name: 'hopper' } })
      t.equal(named.first()?.ID, 4)
      t.equal(ds.Employee!.query('secret = hush').length, 1)
    })
  })

  t.test('aggregates equal those of $compute', async t => {
    run(ds => {
      const all = ds.Employee!.all()
      t.equal(all.sum('salary'), 330_000)
      t.equal(all.average('salary'), 66_000)
      t.equal(all.min('lastName'), 'Gödel')
      t.equal(all.max('hired'), '2020-12-24')
      t.equal(all.count('salary'), 5)
      t.same(all.distinct('salary'), [30_000, 45_000, 90_000, 120_000])
      t.same(all.distinct('firstName'), ['Ada', 'Alan', 'Émile', 'Grace', 'Kurt'])
      t.equal(ds.Tag!.all().sum('größe'), 9223372036854775819n)
      t.equal(ds.Tag!.all().average('größe'), 2 ** 62)
    })
  })

  t.test('positions, slices and sets', async t => {
    run(ds => {
      const ordered = ds.Employee!.all().orderBy('salary desc, lastName')
      t.same(ordered.extract('ID'), [4, 1, 2, 3, 6, 5])
      t.equal(ordered.first()?.ID, 4)
      t.equal(ordered.last()?.ID, 5)
      t.equal(ordered.at(-2)?.ID, 6)
      t.equal(ordered.at(6), null)
      t.same(ordered.slice(1, 3).extract('ID'), [1, 2])
      t.same(ordered.slice(-2).extract('ID'), [6, 5])
      const women = ds.Employee!.query('woman = true')
      const rich = ds.Employee!.query('salary > 80000')
      t.same(women.and(rich).extract('ID'), [1, 4])
      t.same(women.or(rich).extract('ID'), [1, 4, 6])
      t.same(ordered.minus(women).extract('ID'), [2, 3, 5])
      t.equal(women.contains(ds.Employee!.get(6)!), true)
      t.equal(women.contains(ds.Employee!.get(5)!), false)
      t.same(women.copy().add(ds.Employee!.get(2)!).add(ds.Employee!.get(1)!).extract('ID'), [1, 4, 6, 2, 1])
      t.same(women.related('employer').extract('name'), ['Acme', 'Éclair', 'zeta'])
      t.same(ds.Company!.all().related('staff').related('manager').extract('ID'), [1, 2, 4])
    })
  })

  t.test('a selection can be ordered by a vector that its query compares', async t => {
    const { run } = await openWorld(t, { fixture: passages })
    run(ds => {
      const near = ds.Passage!.query('embedding > :1', { vector: [1, 0, 0], threshold: 0.5 })
      t.same(near.orderBy('embedding desc').extract('ID'), [1, 2, 7])
      t.same(near.orderBy('embedding').extract('ID'), [7, 2, 1])
      t.throws(() => ds.Passage!.all().orderBy('embedding'), { message: /embedding/ })
    })
  })

  t.test('iteration visits every entity once', async t => {
    run(ds => {
      let sum = 0
      for (const employee of ds.Employee!.all()) sum += employee.salary ?? 0
      t.equal(sum, 330_000)
    })
  })
})

t.test('a query that is stopped at the deadline of its call reports the limit', async t => {
  const { codeSession } = await openWorld(t)
  const late = { time: { deadlineAt: Date.now() - 1, deadlineMs: 5_000 } }
  const employees = codeSession.binding('Employee').instance
  t.throws(() => codeSession.scope.run(late, () => employees.query('lastName = :1', '@a@').length), {
    message: /stopped after 5000 ms/,
  })
})
