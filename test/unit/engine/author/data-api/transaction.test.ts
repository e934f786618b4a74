import t from 'tap'
import { openWorld } from '../../../../support/engine/code-world.ts'

for (const memoryBytes of [0, 2 ** 26]) {
  t.test(`transactions, with ${memoryBytes} bytes of shared memory`, async t => {
    const { run, engine } = await openWorld(t, { memoryBytes })
    await engine.parts.writer.memoryFilled

    t.test('read what they have written, in every kind of query', async t => {
      run(ds => {
        const result = ds.transaction(() => {
          const company = ds.Company!.new({ name: 'Initech', code: 'US/9', contract: Uint8Array.of(1, 2) })
          t.equal(company.save().success, true)
          const milton = ds.Employee!.new({ lastName: 'Waddams', salary: 500, hired: '1999-02-19' })
          milton.employer = company
          t.equal(milton.save().success, true)
          const ada = ds.Employee!.get(1)!
          ada.salary = 1_000
          ada.employer = company
          ada.save()
          ds.Employee!.get(5)?.drop()

          t.same(company.staff.orderBy('lastName').extract('lastName'), ['Lovelace', 'Waddams'])
          t.same(ds.Employee!.query('employer.name = initech order by salary').extract('ID'), [7, 1])
          t.same(ds.Company!.query('staff.lastName = waddams').extract('name'), ['Initech'])
          t.same(ds.Employee!.query('lastName = wad@').extract('ID'), [7])
          t.same(ds.Employee!.query('lastName = turing').length, 0)
          t.same(ds.Employee!.query('hired < :1', '2000-01-01').extract('ID'), [7])
          t.equal(ds.Employee!.all().sum('salary'), 241_500)
          t.same(ds.Employee!.all().distinct('employer.name'), ['Acme', 'Éclair', 'Initech', 'zeta'])
          t.equal(ds.Employee!.getCount(), 6)
          t.same([...ds.Company!.query('code = "US/9"').first()!.contract.bytes], [1, 2])
          t.equal(ds.Company!.get(company.ID)?.name, 'Initech')
          return 'done'
        })
        t.equal(result, 'done')
        t.equal(ds.Employee!.get(1)?.employer.name, 'Initech')
        t.equal(ds.Employee!.getCount(), 6)
        t.same([...ds.Company!.query('code = "US/9"').first()!.contract.bytes], [1, 2])
      })
    })

    t.test('keep nothing when the code throws or returns false', async t => {
      run(ds => {
        const before = ds.Employee!.all().toCollection()
        const change = () => {
          const ada = ds.Employee!.get(1)!
          ada.lastName = 'Byron'
          ada.save()
          ds.Employee!.new({ lastName: 'Nobody' }).save()
          ds.Employee!.query('ID > 5').drop()
          t.equal(ds.Employee!.get(1)?.lastName, 'Byron')
        }
        t.throws(
          () =>
            ds.transaction(() => {
              change()
              throw new Error('no')
            }),
          { message: 'no' },
        )
        t.same(ds.Employee!.all().toCollection(), before)
        t.equal(
          ds.transaction(() => {
            change()
            return false
          }),
          false,
        )
        t.same(ds.Employee!.all().toCollection(), before)
      })
    })

    t.test('roll back an inner one alone', async t => {
      run(ds => {
        ds.transaction(() => {
          ds.City!.new({ name: 'outer' }).save()
          ds.transaction(() => {
            ds.City!.new({ name: 'inner' }).save()
            t.equal(ds.City!.query('name = inner').length, 1)
            return false
          })
          ds.transaction(() => ds.City!.new({ name: 'kept' }).save())
          t.equal(ds.City!.get('inner'), null)
          t.equal(ds.City!.get('kept')?.name, 'kept')
        })
        t.same(ds.City!.query('name in :1 order by name', ['inner', 'kept', 'outer']).extract('name'), [
          'kept',
          'outer',
        ])
      })
    })

    t.test('make writes of other callers wait for the end', async t => {
      const order: string[] = []
      let other: Promise<unknown> | undefined
      run(ds => {
        ds.transaction(() => {
          ds.City!.new({ name: 'first' }).save()
          const body = Buffer.from(JSON.stringify({ name: 'first', population: 1 }))
          const save = { kind: 'save', dataClass: 'City', body, mode: 'update', atomic: false } as const
          other = engine.saves
            .write(save)
            .then(({ entities }) => order.push(String(entities[0]!.failure?.status.status)))
        })
        order.push('end')
      })
      await other
      t.same(order, ['end', '4'], 'the key exists by then')
    })

    t.test('continue after a failed save', async t => {
      run(ds => {
        ds.transaction(() => {
          t.equal(ds.City!.new({ name: 'Paris' }).save().success, false)
          t.equal(ds.City!.new({ name: 'Lyon' }).save().success, true)
        })
        t.equal(ds.City!.query('name = lyon').length, 1)
      })
    })
  })
}

t.test('a transaction that exceeds its time limit is rolled back, and the next one works', async t => {
  const { run } = await openWorld(t, { transactionTimeoutMs: 1 })
  run(ds => {
    const tooLong = () =>
      ds.transaction(() => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
        return ds.City!.new({ name: 'late' }).save()
      })
    t.throws(tooLong, { message: /longer than 1 ms/ })
    t.equal(ds.City!.get('late'), null)
    t.same(ds.City!.new({ name: 'later' }).save(), { success: true })
  })
})

t.test('transactions can be nested eight deep', async t => {
  const { run } = await openWorld(t)
  run(ds => {
    const nest = (depth: number): unknown => {
      ds.City!.new({ name: `depth ${depth}` }).save()
      return depth === 8 || ds.transaction(() => nest(depth + 1))
    }
    ds.transaction(() => nest(1))
    t.equal(ds.City!.query('name = "depth @"').length, 8)
    const tooDeep = (depth: number): unknown => ds.transaction(() => tooDeep(depth + 1))
    t.throws(() => tooDeep(1), { message: /more than 8 deep/ })
    t.equal(ds.City!.query('name = "depth @"').length, 8)
  })
})
