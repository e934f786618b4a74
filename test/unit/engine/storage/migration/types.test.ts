/** Attributes whose types change: values that convert, and losses. */
import t from 'tap'
import { openTestStore, type TestStore } from '../../../../support/engine/test-store.ts'
import { migrate, person, reopen, three } from './changed-store.ts'

t.test('vectors of another dimension are a loss that must be allowed', async t => {
  const [two, three] = [2, 3].map(dimension => person({ v: { type: 'vector', dimension } }))
  const fill = (store: TestStore): void => void store.save('Person', { v: [1, 0] })
  const error = await migrate(t, two!, three!, fill).catch(error => error)
  t.match(error, { name: 'MigrationError' })
  t.match(error.message, /Person\.v becomes vector \(dimension 3\), to which 1 value cannot be converted without loss/)
  const unchanged = await reopen(t, t.testdirName, two!)
  t.match(unchanged.all('Person'), [{ v: [1, 0] }])
  await unchanged.close()
  t.match((await reopen(t, t.testdirName, three!, { allowLoss: true })).all('Person'), [{ v: null }])
})

t.test('an integer that a double would round is a loss', async t => {
  const [before, after] = ['long64', 'number'].map(type => person({ v: { type, indexed: true } }))
  const fill = (store: TestStore): void =>
    void store.save('Person', [{ v: '9007199254740992' }, { v: '9007199254740993' }])
  const error = await migrate(t, before!, after!, fill).catch(error => error)
  t.match(error.message, /Person\.v becomes number, to which 1 value .* without loss \(9007199254740993\)/)
  const store = await reopen(t, t.testdirName, after!, { allowLoss: true })
  t.match(store.all('Person'), [{ v: 9_007_199_254_740_992 }, { v: null }])
  t.same(store.problems(), [])
})

t.test('decimals convert to other types and back where nothing is rounded', async t => {
  const decimal = (scale: number, more: object = {}) => ({
    type: 'decimal',
    scale,
    asText: true,
    ...more,
  })
  const changes: readonly [before: object, values: unknown[], after: object, values: unknown[], losses: string][] = [
    [decimal(2), ['1.50', '-0.01', null], decimal(4), ['1.5000', '-0.0100', null], ''],
    [decimal(4), ['1.5', '0.0001'], decimal(2), ['1.50', null], '0.0001'],
    [decimal(0), ['999999999999999999'], decimal(1), [null], '999999999999999999'],
    [decimal(2, { asText: false }), ['12345678901.5'], decimal(2), ['12345678901.50'], ''],
    [decimal(2), ['12345678901.5'], decimal(2, { asText: false }), [12345678901.5], ''],
    [decimal(2), ['0.10', '12345678901234.56'], { type: 'string' }, ['0.10', '12345678901234.56'], ''],
    [{ type: 'string' }, ['1.5', ' 2 ', '1,5', '1.005'], decimal(2), ['1.50', '2.00', null, null], '"1,5", "1.005"'],
    [{ type: 'number' }, [0.1, 0.30000000000000004, 1e15], decimal(2), ['0.10', null, '1000000000000000.00'], '0.3'],
    [
      decimal(2),
      ['0.1', '9007199254740.99', '9007199254740993.5'],
      { type: 'number' },
      [0.1, 9007199254740.99, null],
      '"9007199254740993.50"',
    ],
    [decimal(2), ['7', '7.5'], { type: 'long' }, [7, null], '"7.50"'],
    [decimal(2), ['12345678901', '0.01'], { type: 'long64' }, [12345678901, null], '"0.01"'],
    [{ type: 'long64' }, ['9007199254740993'], decimal(2), ['9007199254740993.00'], ''],
  ]
  for (const [from, values, to, expected, losses] of changes) {
    await t.test(`${JSON.stringify(from)} to ${JSON.stringify(to)}`, async t => {
      const [before, after] = [from, to].map(type => person({ v: { ...type, indexed: true } }))
      const fill = (store: TestStore): void =>
        void store.save(
          'Person',
          values.map(v => ({ v })),
        )
      const path = t.testdir()
      const old = openTestStore(t, { path, model: before! })
      fill(old)
      await old.close()
      if (losses) {
        const error = await reopen(t, path, after!).catch(error => error)
        t.match(error.message, /cannot be converted without loss/)
        t.ok(error.message.includes(losses), error.message)
      }
      const store = await reopen(t, path, after!, { allowLoss: losses !== '' })
      t.strictSame(
        store.all('Person').map(({ v }) => v),
        expected,
      )
      t.same(store.problems(), [])
    })
  }
})

t.test('a decimal key keeps its scale, and may become a text in answers', async t => {
  const model = (more: object) => ({
    name: 'm',
    dataClasses: {
      Rate: { key: 'r', attributes: { r: { type: 'decimal', scale: 2, ...more } } },
      Person: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          rateID: { type: 'decimal', scale: 2, ...more },
          rate: { kind: 'relatedEntity', type: 'Rate', foreignKey: 'rateID' },
        },
      },
    },
  })
  const fill = (store: TestStore): void => {
    store.save('Rate', [{ r: '7.5' }, { r: 19 }])
    store.save('Person', [{ ID: 1, rate: { __KEY: '7.50' } }])
  }
  await t.rejects(migrate(t, model({}), model({ scale: 3 }), fill, { allowLoss: true }), {
    message: /primary key cannot change from r \(decimal of scale 2\) to r \(decimal of scale 3\)/,
  })
  const store = await reopen(t, t.testdirName, model({ asText: true }))
  t.match(store.all('Rate'), [
    { __KEY: '7.50', r: '7.50' },
    { __KEY: '19.00', r: '19.00' },
  ])
  t.match(store.all('Person'), [{ rateID: '7.50', rate: { __deferred: { uri: '/rest/Rate(7.50)', __KEY: '7.50' } } }])
  t.same(store.one('Person', { ID: 2, rateID: 19 }).codes, [])
  t.same(store.problems(), [])
})

t.test('a relation by a date key passes the check', async t => {
  const store = openTestStore(t, {
    model: {
      name: 'm',
      dataClasses: {
        Day: { key: 'd', attributes: { d: { type: 'date', simpleDate: true } } },
        Person: {
          key: 'ID',
          attributes: {
            ID: { type: 'long' },
            dayID: { type: 'date', simpleDate: true },
            day: { kind: 'relatedEntity', type: 'Day', foreignKey: 'dayID' },
          },
        },
      },
    },
  })
  store.save('Day', [{ d: '2020-01-31' }])
  store.save('Person', [{ ID: 1, day: '2020-01-31' }])
  t.match(store.all('Person'), [{ day: { __deferred: { __KEY: '2020-01-31' } } }])
  t.same(store.problems(), [])
})

t.test('types change where every value converts', async t => {
  const store = await migrate(
    t,
    person({ a: { type: 'string', indexed: true } }),
    person({ a: { type: 'long', indexed: true } }),
    three,
  )
  t.match(store.all('Person'), [{ a: 1 }, { a: 2 }, { a: null }])
  t.same(store.problems(), [])
  await store.close()
  const back = await reopen(t, t.testdirName, person({ a: { type: 'string', indexed: true } }))
  t.match(back.all('Person'), [{ a: '1' }, { a: '2' }, { a: null }])
  t.same(back.problems(), [])
})
