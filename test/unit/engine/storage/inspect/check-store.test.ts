import t from 'tap'
import { BinaryValue } from '../../../../../engine/catalog/value.ts'
import { checkStore } from '../../../../../engine/storage/inspect/check-store.ts'
import { type Environment, getBytes } from '../../../../../engine/storage/environment.ts'
import { binaryKey, changeKey, indexPrefix, postingKey, rowKey } from '../../../../../engine/storage/keys.ts'
import { addPostings, removePosting } from '../../../../../engine/storage/postings.ts'
import { NO_ROW } from '../../../../../engine/row-format/row-layout.ts'
import { readTableState, writeGlobalStamp, writeTableState } from '../../../../../engine/storage/store-state.ts'
import { createRowStore, type RowStore } from '../../../../support/engine/write-rows.ts'
import { testModel } from '../../../../support/fixtures/every-type.ts'
import fc from '../../../../support/runner/fast-check.ts'

const NOTHING = Buffer.alloc(0)
const LONG = 'x'.repeat(1100)

/** Two companies and three people with different attributes. */
function fill(path: string): RowStore {
  const store = createRowStore(path, testModel)
  store.commit(rows => {
    rows.insert('Company', { code: 'Acme', name: 'ACME Inc.' })
    rows.insert('Company', { code: 'Börk', name: null })
    rows.insert('Person', { ID: 1, name: 'Ada', nick: `${LONG}1`, big: 2n ** 60n, born: 0, employerCode: 'Acme' })
    rows.insert('Person', {
      ...{ ID: 2, name: 'Élan', nick: `${LONG}2`, height: 0.1, tag: 'A'.repeat(32), extra: { '2': 1, a: [null] } },
      ...{ active: false, seen: 1e12, lap: 5, photo: new BinaryValue('image/png', Uint8Array.of(1, 2)), secret: 's' },
    })
    rows.insert('Person', { ID: 3, employerCode: 'Acme' })
  })
  store.commit(rows => rows.update('Person', 0, { ID: 1, name: 'Ada', nick: `${LONG}1`, employerCode: 'Börk' }))
  store.commit(rows => rows.delete('Person', 2))
  return store
}

const PERSON = 'Person, row 0: '
const cases: { name: string; damage: (store: RowStore, tables: Tables) => void; found: (string | RegExp)[] }[] = [
  { name: 'nothing', damage: () => {}, found: [] },
  {
    name: 'a row that ends early',
    damage: ({ environment }, { person }) => environment.rows.putSync(rowKey(person, 0), Buffer.alloc(9)),
    found: [`${PERSON}it has 9 bytes, less than a header`],
  },
  {
    name: 'a row whose offsets lead beyond its end',
    damage: ({ environment }, { person }) => edit(environment, person, 0, row => row.subarray(0, 60).fill(0xff, 20)),
    found: [/^Person, row 0: /],
  },
  {
    name: 'a row that is not JSON',
    damage: ({ environment }, { person }) => edit(environment, person, 0, row => row.fill('}', row.length - 4)),
    found: [/^Person, row 0: its text cannot be read/],
  },
  {
    name: 'an unknown layout',
    damage: ({ environment }, { company }) => edit(environment, company, 1, row => void row.writeUInt16LE(9)),
    found: ['Company, row 1: it has layout 9, the store says 1'],
  },
  {
    name: 'another number of slots',
    damage: ({ environment }, { person }) => edit(environment, person, 1, row => void row.writeUInt16LE(1, 2)),
    found: [/^Person, row 1: it has 1 slots instead of 18/],
  },
  {
    name: 'stamp 0',
    damage: ({ environment }, { person }) => edit(environment, person, 1, row => void row.writeUInt32LE(0, 4)),
    found: ['Person, row 1: its stamp is 0'],
  },
  {
    name: 'a stamp that differs from the text',
    damage: ({ environment }, { person }) => edit(environment, person, 1, row => void row.writeUInt32LE(7, 4)),
    found: ['Person, row 1: its bytes are not what its values are stored as'],
  },
  {
    name: 'a quote where a number was',
    damage: ({ environment }, { person }) => replaceText(environment, person, 1, '"lap":5', '"lap":"'),
    found: [/^Person, row 1: its text cannot be read/],
  },
  {
    name: 'a boolean that is a number',
    damage: ({ environment }, { person }) => replaceText(environment, person, 1, 'false', '12345'),
    found: ['Person, row 1: active is not of type bool'],
  },
  {
    name: 'a letter of a value',
    damage: ({ environment }, { company }) => replaceText(environment, company, 0, 'ACME Inc.', 'ACME Inx.'),
    found: [
      'Company, row 0: name is missing in the index',
      'Company, index of name: an entry of row 0, which has another value',
    ].sort(),
  },
  {
    name: 'a key that is not the one in __KEY',
    damage: ({ environment }, { company }) => replaceText(environment, company, 0, '"__KEY":"Acme"', '"__KEY":"Akme"'),
    found: ['Company, row 0: its __KEY is Akme, its key Acme'],
  },
  {
    name: 'a link to another key',
    damage: ({ environment }, { person }) => replaceText(environment, person, 0, '(B%C3%B6rk)', '(B%C3%B6rx)'),
    found: [`${PERSON}its bytes are not what its values are stored as`],
  },
  {
    name: 'a missing index entry',
    damage: store => removePosting(store.environment.index, indexPrefix(store.attribute('Person', 'name'), 'Ada'), 0),
    found: [`${PERSON}name is missing in the index`],
  },
  {
    name: 'an index entry of another value',
    damage: store => addPostings(store.environment.index, indexPrefix(store.attribute('Person', 'name'), 'Bob'), [0]),
    found: ['Person, index of name: an entry of row 0, which has another value'],
  },
  {
    name: 'an index entry of a deleted row',
    damage: store => addPostings(store.environment.index, indexPrefix(store.attribute('Person', 'name'), null), [2]),
    found: ['Person, index of name: an entry of row 2, which does not exist'],
  },
  {
    name: 'an index entry of an attribute without index',
    damage: store => addPostings(store.environment.index, indexPrefix(store.attribute('Person', 'weight'), 1), [0]),
    found: [/^there are index entries of attribute \d+ of table \d+, which has no index in the model$/],
  },
  {
    name: 'a chunk of an index that says the wrong number of rows',
    damage: store => {
      const key = postingKey(indexPrefix(store.attribute('Person', 'name'), 'Ada'), NO_ROW)
      store.environment.index.putSync(key, Buffer.from(Uint32Array.of(7, 0).buffer))
    },
    found: ['Person, index of name: a chunk of 8 bytes up to row 4294967295 with 0 rows below it'],
  },
  {
    name: 'a foreign key that is missing in the index',
    damage: store => {
      const key = store.attribute('Person', 'employerCode')
      removePosting(store.environment.index, indexPrefix(key, 'Börk'), 0)
    },
    found: [`${PERSON}employerCode is missing in the index`],
  },
  {
    name: 'a link to a deleted entity',
    damage: store => store.commit(rows => rows.delete('Company', 1)),
    found: [`${PERSON}employer points to row 1 of Company, which does not exist`],
  },
  {
    name: 'a link to nowhere with a foreign key',
    damage: ({ environment }, { person }) =>
      edit(environment, person, 0, row => void row.writeUInt32LE(0xffffffff, 16)),
    found: [`${PERSON}employer points to nothing, though employerCode is Börk`],
  },
  {
    name: 'a link to another entity than the foreign key says',
    damage: ({ environment }, { person }) => edit(environment, person, 0, row => void row.writeUInt32LE(0, 16)),
    found: [`${PERSON}employer points to Acme, but employerCode is Börk`],
  },
  {
    name: 'two entities with one key',
    damage: store => store.commit(rows => rows.insert('Company', { code: 'BORK' })),
    found: ['Company, row 2: another row has the same code, which is unique'],
  },
  {
    name: 'a duplicate of a unique text that is too long for a key',
    damage: store => store.commit(rows => rows.insert('Person', { ID: 9, nick: `${LONG.toUpperCase()}1` })),
    found: ['Person, row 3: another row has the same nick, which is unique'],
  },
  {
    name: 'missing bytes of an image',
    damage: (store, { person }) =>
      store.environment.binaries.removeSync(binaryKey(person, 1, store.attribute('Person', 'photo').position)),
    found: ['Person, row 1: the bytes of photo are missing'],
  },
  {
    name: 'bytes of an image that is null',
    damage: (store, { person }) =>
      store.environment.binaries.putSync(
        binaryKey(person, 0, store.attribute('Person', 'photo').position),
        Buffer.from([1, 65, 0]),
      ),
    found: [`${PERSON}the bytes of photo are there, but it is null`],
  },
  {
    name: 'bytes of a deleted row, without an end',
    damage: (store, { person }) =>
      store.environment.binaries.putSync(
        binaryKey(person, 2, store.attribute('Person', 'cv').position),
        Buffer.from([5, 65]),
      ),
    found: ['Person, row 2: the bytes of cv are damaged', 'Person, row 2: the bytes of cv belong to no row'],
  },
  {
    name: 'bytes of an attribute that has none',
    damage: ({ environment }, { person }) => environment.binaries.putSync(binaryKey(person, 1, 1), Buffer.from([0])),
    found: [/^there is a binary of attribute 1 of table \d+, which the model does not have$/],
  },
  {
    name: 'a wrong row count',
    damage: ({ environment }, { person }) => editState(environment, person, { rowCount: 7 }),
    found: ['Person: there are 2 rows, the store counts 7'],
  },
  {
    name: 'a next row id that is in use',
    damage: ({ environment }, { person }) => editState(environment, person, { nextRowId: 1 }),
    found: ['Person: there is a row 1, but the next row id is 1'],
  },
  {
    name: 'a next number that is in use',
    damage: ({ environment }, { person }) => editState(environment, person, { nextAutoIncrement: 2 }),
    found: ['Person: a row has the number 2, but the next one is 2'],
  },
  {
    name: 'a global stamp that is too low',
    damage: ({ environment }) => writeGlobalStamp(environment, 5),
    found: [
      "Person, row 0: its global stamp 6 is above the store's, 5",
      'the last change record is of stamp 7, but the global stamp is 5',
    ],
  },
  {
    name: 'a change record that is cut',
    damage: ({ environment }) => environment.changes.putSync(changeKey(7), Buffer.alloc(8)),
    found: ['the change record of stamp 7 has 8 bytes'],
  },
  {
    name: 'rows of a table that is not in the model',
    damage: ({ environment }) => environment.rows.putSync(rowKey(900, 1), NOTHING),
    found: ['there are rows of table 900, which the model does not have'],
  },
]

interface Tables {
  person: number
  company: number
}

/** @param change changes the bytes in place, or returns others */
function edit(
  environment: Environment,
  table: number,
  rowId: number,
  change: (row: Buffer) => Buffer | undefined,
): void {
  const key = rowKey(table, rowId)
  const row = Buffer.from(getBytes(environment.rows, key)!)
  environment.rows.putSync(key, change(row) ?? row)
}

/** Replaces text of a row by other text of the same length. */
function replaceText(environment: Environment, table: number, rowId: number, from: string, to: string): void {
  edit(environment, table, rowId, row => void row.write(to, row.indexOf(from)))
}

function editState(environment: Environment, table: number, change: object): void {
  writeTableState(environment, table, { ...readTableState(environment, table), ...change })
}

for (const { name, damage, found } of cases) {
  t.test(`the check finds ${name}`, async t => {
    const store = fill(t.testdir())
    damage(store, {
      person: store.dataClass('Person').tableNumber,
      company: store.dataClass('Company').tableNumber,
    })
    const problems = [...checkStore(store.environment, store.catalog, store.layouts)].sort()
    t.match(problems, found)
    t.equal(problems.length, found.length, problems.join('\n'))
    await store.environment.close()
  })
}

t.test('no damage to the bytes of a row makes the check itself fail', async t => {
  const store = fill(t.testdir())
  const { tableNumber } = store.dataClass('Person')
  const original = Buffer.from(getBytes(store.environment.rows, rowKey(tableNumber, 1))!)
  fc.assert(
    fc.property(fc.nat(original.length - 1), fc.nat(255), fc.nat(original.length), (at, byte, length) => {
      const row = Buffer.from(original)
      row[at] = byte
      for (const damaged of [row, row.subarray(0, length)]) {
        store.environment.rows.putSync(rowKey(tableNumber, 1), Buffer.from(damaged))
        Array.from(checkStore(store.environment, store.catalog, store.layouts))
      }
    }),
    { numRuns: 100 },
  )
  t.pass()
  await store.environment.close()
})

t.test('the check reports its progress', async t => {
  const store = createRowStore(t.testdir(), testModel)
  store.commit(rows => {
    for (let i = 0; i < 1500; i++) rows.insert('Company', { code: `${i}` })
  })
  const progress: string[] = []
  const problems = checkStore(
    store.environment,
    store.catalog,
    store.layouts,
    ({ dataClass, checkedRows: checked, rowCount }) => progress.push(`${dataClass} ${checked} of ${rowCount}`),
  )
  t.strictSame([...problems], [])
  t.strictSame(progress, ['Company 1000 of 1500', 'Company 1500 of 1500', 'Person 0 of 0'])
  await store.environment.close()
})
