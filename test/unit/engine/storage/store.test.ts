import t from 'tap'
import { BinaryValue, type Value } from '../../../../engine/catalog/value.ts'
import { changeKey } from '../../../../engine/storage/keys.ts'
import { layoutKey, loadLayouts } from '../../../../engine/storage/layouts.ts'
import type { RowView } from '../../../../engine/row-format/row-view.ts'
import { type Segment, SEGMENT_ROWS, type TableSnapshot } from '../../../../engine/data/snapshot.ts'
import { openStore } from '../../../../engine/storage/store.ts'
import { createRowStore, type RowStore, type TestEntity } from '../../../support/engine/write-rows.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'

const ada: TestEntity = {
  ID: 1,
  name: 'Ada "Lovelace" Élan\\',
  nick: 'adä',
  active: true,
  age: 36,
  height: 1.65,
  weight: -12.5e-7,
  big: -5,
  born: Date.UTC(1815, 11, 10),
  seen: Date.UTC(2026, 0, 31, 10, 11, 12, 345),
  lap: 90_061_001,
  tag: '0123456789ABCDEF0123456789ABCDEF',
  extra: { a: [1, 'é'] },
  photo: new BinaryValue('image/png', Uint8Array.of(1, 2, 3)),
  employerCode: 'ACME',
}

const reading = <T>(
  store: ReturnType<RowStore['open']>,
  rows: RowStore,
  name: string,
  read: (table: TableSnapshot) => T,
): T => {
  const snapshot = store.snapshot()
  try {
    return read(snapshot.table(rows.dataClass(name)))
  } finally {
    snapshot.release()
  }
}

/** The values of a segment, undefined where none is present. */
const valuesOf = (segment: Segment, count: number): unknown[] =>
  Array.from({ length: count }, (_, entry) => {
    if (!(segment.presence[entry >>> 5]! & (1 << (entry & 31)))) return undefined
    return segment.kind === 'presence' || segment.kind === 'vector' ? true : segment.values[entry]
  })

for (const cacheBytes of [2 ** 26, 1, 0]) {
  t.test(`with ${cacheBytes} bytes of cache`, async t => {
    t.test('a column of every type has the values of the rows', async t => {
      const rows = createRowStore(t.testdir(), testModel)
      rows.commit(write => {
        write.insert('Company', { code: 'other' })
        write.insert('Company', { code: 'acme', name: 'Acme' })
        write.insert('Person', ada)
        write.insert('Person', { ID: 2 })
      })
      const store = rows.open(cacheBytes)
      reading(store, rows, 'Person', table => {
        const expected: Record<string, unknown> = {
          ...ada,
          name: 'ada "lovelace" elan\\',
          nick: 'ada',
          active: 1,
          tag: '0123456789abcdef0123456789abcdef',
          photo: true,
          employerCode: 'acme',
          employer: 1,
        }
        for (const attribute of rows.dataClass('Person').attributes) {
          if (attribute.kind !== 'storage' && attribute.kind !== 'relatedEntity') continue
          const values = valuesOf(table.column(attribute).segment(0), 3)
          const second = attribute.name === 'ID' ? 2 : undefined
          t.strictSame(values, [expected[attribute.name], second, undefined], attribute.name)
        }
        const { head } = rows.dataClass('Person')
        const inHead = (name: string) => valuesOf(table.column(head.get(name)!).segment(0), 3)
        const inRows = (read: (row: RowView) => number) =>
          [0, 1].map(rowId => read(table.row(rowId)!)).concat(undefined!)
        t.strictSame(
          inHead('__STAMP'),
          inRows(row => row.stamp),
        )
        t.strictSame(
          inHead('__GlobalStamp'),
          inRows(row => row.globalStamp),
        )
        t.strictSame(
          inHead('__TIMESTAMP'),
          inRows(row => Date.parse(row.timestamp)),
        )
        t.equal(head.get('__KEY'), rows.dataClass('Person').key)
      })
      await rows.environment.close()
    })

    t.test('columns follow inserts, updates and deletes across segments', async t => {
      const rows = createRowStore(t.testdir(), testModel)
      const model = new Map<number, number>()
      const count = 2 * SEGMENT_ROWS + 10
      rows.commit(write => {
        for (let i = 0; i < count; i++) model.set(write.insert('Company', { code: `${i}`, name: `${i}` }), i)
      })
      const store = rows.open(cacheBytes)
      const verify = (message: string) =>
        reading(store, rows, 'Company', table => {
          const column = table.column(rows.attribute('Company', 'name'))
          const found = new Map<number, number>()
          for (let index = 0; index * SEGMENT_ROWS < table.rowIdLimit; index++) {
            valuesOf(column.segment(index), SEGMENT_ROWS).forEach((value, entry) => {
              if (value !== undefined) found.set(index * SEGMENT_ROWS + entry, Number(value))
            })
          }
          t.strictSame(found, model, message)
          t.strictSame(
            [...table.live],
            [...model.keys()].sort((a, b) => a - b),
            `${message}: live rows`,
          )
        })
      verify('at first')
      rows.commit(write => {
        write.delete('Company', 5)
        write.delete('Company', SEGMENT_ROWS)
        write.update('Company', 6, { code: '6', name: '666' })
        model.delete(5)
        model.delete(SEGMENT_ROWS)
        model.set(6, 666)
      })
      rows.commit(write => {
        model.set(write.insert('Company', { code: 'new', name: '777' }), 777)
        write.delete('Company', 6)
        model.delete(6)
      })
      verify('after two commits')
      rows.commit(write => {
        for (let i = 100; i < 2000; i++) {
          write.update('Company', i, { code: `${i}`, name: `${i + 1}` })
          model.set(i, i + 1)
        }
      })
      verify('after many changes in one segment')
      rows.commit(write => {
        for (let i = 0; i < SEGMENT_ROWS; i++) model.set(write.insert('Company', { code: `n${i}`, name: `${i}` }), i)
      })
      verify('after a new segment')
      await rows.environment.close()
    })
  })
}

t.test('a segment that a reader holds does not change', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => write.insert('Person', { ID: 1, age: 1, name: 'a' }))
  const store = rows.open()
  const [age, name] = [rows.attribute('Person', 'age'), rows.attribute('Person', 'name')]
  const read = () =>
    reading(store, rows, 'Person', table => [table.column(age).segment(0), table.column(name).segment(0)] as const)
  const before = read()
  rows.commit(write => write.update('Person', 0, { ID: 1, age: 2, name: null }))
  const after = read()
  t.strictSame(
    before.map(segment => valuesOf(segment, 1)),
    [[1], ['a']],
  )
  t.strictSame(
    after.map(segment => valuesOf(segment, 1)),
    [[2], [undefined]],
  )
  await rows.environment.close()
})

t.test('unchanged segments are read once', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => write.insert('Company', { code: 'a' }))
  const store = rows.open()
  const read = () =>
    reading(store, rows, 'Company', table => table.column(rows.attribute('Company', 'code')).segment(0))
  const first = read()
  rows.commit(write => write.insert('Person', { ID: 1 }))
  t.equal(read(), first)
  await rows.environment.close()
})

t.test('memory for segments stays within its budget, and evicted ones are read again', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => {
    for (let i = 0; i < 3 * SEGMENT_ROWS; i++) write.insert('Company', { code: `${i}` })
  })
  // One segment of these texts takes some 150 kB.
  const store = rows.open(400_000)
  const code = rows.attribute('Company', 'code')
  const read = (index: number) => reading(store, rows, 'Company', table => table.column(code).segment(index))
  const first = read(0)
  t.equal(read(1), read(1))
  t.equal(read(0), first, 'there is room for two')
  read(2)
  t.equal(read(0), first, 'the one used last stays')
  const again = read(1)
  t.equal(valuesOf(again, 1)[0], `${SEGMENT_ROWS}`)
  await rows.environment.close()
})

t.test('a long64 column has bigints as soon as one value is not a safe integer', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => {
    for (const big of [1, null, 2 ** 53 - 1]) write.insert('Person', { ID: 1, big })
  })
  const store = rows.open()
  const read = () => reading(store, rows, 'Person', table => table.column(rows.attribute('Person', 'big')).segment(0))
  t.strictSame(valuesOf(read(), 3), [1, undefined, 2 ** 53 - 1])
  rows.commit(write => write.update('Person', 0, { ID: 1, big: -(2n ** 63n) }))
  t.equal(read().kind, 'bigint')
  t.strictSame(valuesOf(read(), 3), [-(2n ** 63n), undefined, 2n ** 53n - 1n])
  await rows.environment.close()
})

t.test('numbers in rows are read as exactly as JSON.parse reads them', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  const heights = [
    0, 5, -7, 0.1, -0.3, 123456.789, 999999999999999, 1e15, 1.7976931348623157e308, 5e-324, 1e21, 48.12345678901234,
  ]
  rows.commit(write => heights.forEach((height, i) => void write.insert('Person', { ID: i, height })))
  const segment = reading(rows.open(), rows, 'Person', table =>
    table.column(rows.attribute('Person', 'height')).segment(0),
  )
  t.strictSame(valuesOf(segment, heights.length), heights)
  await rows.environment.close()
})

t.test('a snapshot sees the newest commit, and a second open one is refused', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  const store = rows.open()
  t.equal(
    reading(store, rows, 'Company', table => table.live.size),
    0,
  )
  rows.commit(write => write.insert('Company', { code: 'a' }))
  const snapshot = store.snapshot()
  t.equal(snapshot.globalStamp, 1)
  t.equal(snapshot.table(rows.dataClass('Company')).live.size, 1)
  t.throws(() => store.snapshot(), /still open/)
  snapshot.release()
  snapshot.release()
  t.throws(() => snapshot.table(rows.dataClass('Company')), /released/)
  store.snapshot().release()
  store.close()
  t.throws(() => store.snapshot(), /closed/)
  await rows.environment.close()
})

t.test('a reader that the change log no longer reaches starts afresh', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => write.insert('Company', { code: 'a', name: 'x' }))
  const store = rows.open()
  const read = () =>
    reading(store, rows, 'Company', table => ({
      live: [...table.live],
      names: valuesOf(table.column(rows.attribute('Company', 'name')).segment(0), 3),
    }))
  t.strictSame(read(), { live: [0], names: ['x', undefined, undefined] })
  rows.commit(write => write.update('Company', 0, { code: 'a', name: 'y' }))
  rows.commit(write => write.insert('Company', { code: 'b' }))
  for (const stamp of [1, 2]) rows.environment.changes.removeSync(changeKey(stamp))
  t.strictSame(read(), { live: [0, 1], names: ['y', undefined, undefined] })
  await rows.environment.close()
})

t.test('rows, keys, links and binaries are found', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => {
    write.insert('Company', { code: 'Acmé' })
    write.insert('Company', { code: `${'k'.repeat(1100)}1` })
    write.insert('Company', { code: `${'k'.repeat(1100)}2` })
    write.insert('Person', { ...ada, employerCode: 'acme' })
    write.insert('Person', { ID: 2 })
    write.insert('Person', { ID: 3, employerCode: 'ACME' })
  })
  const store = rows.open()
  reading(store, rows, 'Company', table => {
    t.equal(table.findKey('ACME'), 0)
    t.equal(table.findKey(`${'K'.repeat(1100)}2`), 2)
    t.equal(table.findKey('k'.repeat(1100)), undefined)
    t.equal(table.findKey('acm'), undefined)
    t.equal(table.findKey(null), undefined)
    t.equal(table.row(0)!.key, 'Acmé')
    t.equal(table.row(3), undefined)
    t.equal(table.rowIdLimit, 3)
  })
  reading(store, rows, 'Person', table => {
    const employer = rows.dataClass('Person').attributesByName.get('employer')!
    t.equal(table.findKey(3), 2)
    t.equal(table.findKey(2.5), undefined)
    t.strictSame(employer.kind === 'relatedEntity' && [...table.referencing(employer, 0)], [0, 2])
    t.strictSame(employer.kind === 'relatedEntity' && [...table.referencing(employer, 1)], [])
    const photo = table.binary(0, rows.attribute('Person', 'photo'))!
    t.equal(table.binary(1, rows.attribute('Person', 'photo')), undefined)
    t.strictSame(photo, new BinaryValue('image/png', Uint8Array.of(1, 2, 3)))
    t.equal(table.row(0)!.value(employer), 'Acmé')
  })
  await rows.environment.close()
})

t.test('the bytes of a binary stay valid when another one is read', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => {
    for (const byte of [1, 2])
      write.insert('Person', { ID: byte, cv: new BinaryValue('a/b', new Uint8Array(9).fill(byte)) })
  })
  reading(rows.open(), rows, 'Person', table => {
    const [first, second] = [0, 1].map(rowId => table.binary(rowId, rows.attribute('Person', 'cv'))!)
    t.strictSame(first!.content, new Uint8Array(9).fill(1))
    t.strictSame(second!.content, new Uint8Array(9).fill(2))
  })
  await rows.environment.close()
})

t.test('a store whose rows have another layout is refused', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  const load = () => loadLayouts(rows.environment, rows.catalog, { dateOnlyFormat: 'iso' })
  t.equal(load().size, 2)
  t.throws(() => loadLayouts(rows.environment, rows.catalog, { dateOnlyFormat: 'dmy' }), /another model/)
  rows.environment.meta.removeSync(layoutKey(rows.dataClass('Person').tableNumber))
  t.throws(load, /no rows of Person/)
  await rows.environment.close()
})

t.test('a row of another layout version is an error, not nonsense', async t => {
  const rows = createRowStore(t.testdir(), testModel)
  rows.commit(write => write.insert('Company', { code: 'a' }))
  const company = rows.layouts.get(rows.dataClass('Company'))!
  const layouts = new Map(rows.layouts).set(rows.dataClass('Company'), { ...company, version: 2 })
  const store = openStore({ environment: rows.environment, catalog: rows.catalog, layouts, cacheBytes: 0 })
  const snapshot = store.snapshot()
  t.throws(() => snapshot.table(rows.dataClass('Company')).row(0), /layout 1, the store says 2/)
  snapshot.release()
  await rows.environment.close()
})

t.test('a date-only column reads the older form too', async t => {
  const values: Value[] = [Date.UTC(2020, 0, 31), new Date(0).setUTCFullYear(7, 1, 3), null]
  const rows = createRowStore(t.testdir(), testModel, { dateOnlyFormat: 'dmy' })
  rows.commit(write => values.forEach((born, i) => void write.insert('Person', { ID: i, born })))
  const segment = reading(rows.open(), rows, 'Person', table =>
    table.column(rows.attribute('Person', 'born')).segment(0),
  )
  t.strictSame(valuesOf(segment, 3), [values[0], values[1], undefined])
  await rows.environment.close()
})
