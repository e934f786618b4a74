/** Entities that are encoded in advance are saved as all others are, whatever is wrong with them. */
import t from 'tap'
import { rowKey } from '../../../../engine/storage/keys.ts'
import { readTableState } from '../../../../engine/storage/store-state.ts'
import { publicView, wholeView } from '../../../../engine/catalog/view.ts'
import { packRows } from '../../../../engine/write/contract/encoded-rows.ts'
import type { SaveRequest, SaveResult } from '../../../../engine/write/contract/requests.ts'
import { TRUSTED_BODY } from '../../../../engine/write/contract/write-limits.ts'
import { ElementEncoder } from '../../../../engine/write/body/element-encoder.ts'
import { parserOf } from '../../../../engine/write/body/parse-body.ts'
import { parseParts, splitBody } from '../../../../engine/write/body/split-body.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'
import { isLong, longCount, seeds } from '../../../support/runner/rounds.ts'
import { model, NOW, openTestStore, type TestStore } from '../../../support/engine/test-store.ts'

interface Encoded extends Required<Pick<SaveRequest, 'parts' | 'encoded'>> {
  /** Number of elements that are encoded. */
  count: number
}

/** Encodes a body as threads of the pool do, a part of a few elements in each. @param nextKey by default the one that is right */
function encode(
  { catalog, layouts, dataClass, environment }: TestStore,
  name: string,
  elements: readonly unknown[],
  {
    trusted = false,
    maxBytes = 1e9,
    together = 5,
    nextKey = readTableState(environment, dataClass(name).tableNumber).nextAutoIncrement,
  } = {},
): Encoded {
  const view = (trusted ? wholeView : publicView)(catalog)
  const body = Buffer.from(JSON.stringify(elements))
  const parts = splitBody(body, TRUSTED_BODY, () => {})
  const encoded: Uint8Array[] = []
  let count = 0
  const encodeSome = (some: readonly unknown[], first: number): void => {
    const options = { layouts, view, trusted, nextKey: nextKey + first, maxBytes, ...SOURCE }
    const encoder = new ElementEncoder(dataClass(name), options)
    const text = Buffer.from(JSON.stringify(some))
    const reader = { parse: parserOf(dataClass(name)), add: (element: unknown) => encoder.add(element) }
    parseParts(text, splitBody(text, TRUSTED_BODY, () => {}).ranges, 0, () => {}, reader)
    const rows = encoder.finish()
    count += rows.ends.filter((end, i) => end > (rows.ends[i - 1] ?? 0)).length
    encoded.push(packRows(rows))
  }
  for (let first = 0; first < elements.length; first += together)
    encodeSome(elements.slice(first, first + together), first)
  return { parts, encoded, count }
}

const SOURCE = { moment: 1_600_000_000_000, user: 'ada', randomUuid: () => 'E'.repeat(32) }

const CLASSES = ['Company', 'Person', 'City', 'Pet', 'Loan'] as const

const Loan = {
  key: 'ID',
  attributes: {
    ID: { type: 'uuid', autoFill: 'uuid' },
    state: { type: 'string', default: 'open', indexed: true },
    copies: { type: 'word', default: 1, minValue: 1, mandatory: true },
    info: { type: 'object', default: { a: [1] } },
    note: { type: 'string', default: 'new', readOnly: true },
    made: { type: 'date', autoFill: 'now', indexed: true },
    day: { type: 'date', autoFill: 'now', simpleDate: true },
    by: { type: 'string', autoFill: 'user' },
    cityName: { type: 'string', default: 'Oslo' },
    city: { kind: 'relatedEntity', type: 'City', foreignKey: 'cityName' },
  },
}
const WITH_LOANS = { ...model, dataClasses: { ...model.dataClasses, Loan } }

/** Values of each attribute, valid and invalid ones. */
const VALUES: Record<(typeof CLASSES)[number], Record<string, readonly unknown[]>> = {
  Company: {
    ID: [null, 3, 9, 10, '11', 12.5, 99, 2_147_483_647, 'x'],
    name: ['Ada', 'Éclair "1"', 'x', 'y'.repeat(21), null, 7],
    code: ['AB1', 'AB2', 'ab1', 'CD99', 'x', null],
    note: ['a', null],
    secret: ['s', null],
    label: ['Ada'],
    score: [1, null],
    zzz: [1],
  },
  Person: {
    ID: [null, 1, 9, 50, 100, 'x'],
    name: ['Ada', 'Łódź\u2028', 'x'.repeat(600), null, true],
    age: [0, 120, 121, '7', null],
    rank: [-5, 40_000],
    big: ['9007199254740993', 12, null],
    height: [1.75, -0.5, '1e3', null, 'tall'],
    active: [true, false, 'true', null],
    born: ['2024-02-29', '2023-02-29', null],
    seen: ['2024-02-29T10:00:00.000Z', null],
    lap: [1000, '00:00:01', null],
    tag: ['0123456789ABCDEF0123456789ABCDEF', 'x', null],
    extra: [{ a: [1, { b: null }] }, [], null],
    photo: [null, { __deferred: { uri: '/rest/x', image: true } }],
    employerID: [1, 2, 3, 500, null],
    employer: [null, { __KEY: '1' }],
    managerID: [1, 9, 50, null],
    nickCity: ['Oslo', 'OSLO', 'Nowhere', null],
    reports: [{ __deferred: { uri: '/rest/x' } }],
  },
  City: { name: ['Oslo', 'oslo', 'Rome', 'a(1)', 'Zürich', null], population: [1, 2.5, null] },
  Pet: {
    ID: ['0123456789ABCDEF0123456789ABCDE1', 'x', null],
    name: ['Rex', null],
    ownerID: [1, 2, 700, null],
    friendID: ['0123456789ABCDEF0123456789ABCDE1', null],
  },
  Loan: {
    state: ['open', 'lent', null, 7],
    copies: [2, null, 0],
    info: [null, {}, 'x'],
    note: ['new', null, 'old'],
    made: ['2024-02-29T10:00:00.000Z', null],
    by: ['kurt', null],
    cityName: ['Oslo', null, 'Rome', 'Nowhere'],
    city: [null, { __KEY: 'Oslo' }],
  },
}

function randomElement(random: Random, name: (typeof CLASSES)[number], share: number): unknown {
  if (random.chance(0.02)) return random.pick([null, 7, 'x', [], {}])
  const element: Record<string, unknown> = {}
  for (const [attribute, values] of Object.entries(VALUES[name])) {
    // The first values are valid, and usual.
    if (random.chance(share)) element[attribute] = random.chance(0.7) ? values[0] : random.pick(values)
  }
  if (random.chance(0.1)) element.__KEY = random.pick([null, 1, '2', 'Oslo', 77])
  if (random.chance(0.1)) element.__STAMP = random.integer(0, 2)
  return element
}

const UUID = /[0-9A-F]{30}[0-9A-F]{2}/g
const masked = (value: unknown): string => JSON.stringify(value).replace(UUID, 'uuid')

const shown = ({ entities, globalStamp }: SaveResult) => ({
  globalStamp,
  entities: entities.map(({ row, rowId, failure }) => ({
    rowId,
    failure,
    row: row && Buffer.from(row).toString('latin1'),
  })),
})

/** Keys and values of a dataclass in the tables of rows and indexes. */
function storedEntries({ environment, dataClass }: TestStore, name: string): string[] {
  const { tableNumber } = dataClass(name)
  const [start, end] = [rowKey(tableNumber, 0), rowKey(tableNumber + 1, 0)]
  return [environment.rows, environment.index].flatMap(table =>
    [...table.getRange({ start, end })].map(({ key, value }) => `${key.toString('hex')} ${value.toString('hex')}`),
  )
}

for (const seed of seeds(isLong ? longCount(40) : 4)) {
  t.test(`entities that are encoded in advance are saved like others (seed ${seed})`, t => {
    const random = randomOf(seed)
    const folder = t.testdir({ plain: {}, other: {} })
    const plain = openTestStore(t, { path: `${folder}/plain`, model: WITH_LOANS })
    const other = openTestStore(t, { path: `${folder}/other`, model: WITH_LOANS })
    const { moment, user } = SOURCE
    for (const store of [plain, other]) store.save('City', { name: 'Oslo' })
    let encoded = 0
    let kept = 0
    for (let round = 0; round < 150; round++) {
      const name = random.pick(CLASSES)
      const share = random.pick([0.15, 0.3, 0.6])
      const body = Array.from({ length: random.integer(1, 12) }, () => randomElement(random, name, share))
      const options = { atomic: random.chance(0.2), trusted: random.chance(0.3), moment, user }
      const wrong = random.chance(0.2) ? { nextKey: random.pick([1, 9, 98, 2_147_483_647]) } : {}
      const { count, ...more } = encode(other, name, body, { ...options, ...wrong })
      const expected = plain.save(name, body, options)
      const found = other.save(name, body, { ...options, ...more })
      const told = `round ${round}, ${name} ${JSON.stringify(options)}: ${JSON.stringify(body)}`
      if (masked(shown(found)) !== masked(shown(expected))) {
        t.same(shown(found), shown(expected), told)
        break
      }
      encoded += count
      kept += expected.entities.filter(({ failure }) => !failure).length
    }
    for (const name of CLASSES) t.equal(masked(other.all(name)), masked(plain.all(name)), name)
    // Byte by byte; the other dataclasses have random keys.
    for (const name of ['Company', 'Person', 'City'])
      t.strictSame(storedEntries(other, name), storedEntries(plain, name), `rows and indexes of ${name}`)
    t.strictSame(other.problems(), [])
    t.ok(encoded > kept / 3, `${encoded} elements were encoded, ${kept} saved`)
    t.end()
  })
}

t.test('a key that gets longer between the encoding and the save', t => {
  const store = openTestStore(t)
  const nine = Array.from({ length: 12 }, (_, i) => ({ name: `N${i}`, age: 1 }))
  const { count, ...more } = encode(store, 'Person', nine)
  t.equal(count, 12)
  t.ok(store.save('Person', nine.slice(0, 8)).entities.every(({ failure }) => !failure))
  const saved = store.save('Person', nine, more)
  t.ok(saved.entities.every(({ failure }) => !failure))
  t.same(
    store.all('Person').map(({ ID }) => ID),
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
  t.same(store.problems(), [])
  t.end()
})

t.test('sent keys among automatic ones of the same piece', t => {
  const folder = t.testdir({ plain: {}, other: {} })
  const plain = openTestStore(t, { path: `${folder}/plain` })
  const other = openTestStore(t, { path: `${folder}/other` })
  const random = randomOf(7)
  for (let round = 0; round < 30; round++) {
    const next = readTableState(plain.environment, plain.dataClass('Person').tableNumber).nextAutoIncrement
    const body = Array.from({ length: 40 }, (_, i) => ({
      name: `N${i}`,
      ...(random.chance(0.3) && { ID: next + random.integer(-10, 50) }),
    }))
    const expected = plain.save('Person', body)
    const { count, ...more } = encode(other, 'Person', body, { together: 40 })
    t.ok(count > 20)
    t.same(shown(other.save('Person', body, more)), shown(expected), JSON.stringify(body))
  }
  t.same(storedEntries(other, 'Person'), storedEntries(plain, 'Person'))
  t.same(other.problems(), [])
  t.end()
})

t.test('rows are encoded up to a number of bytes; the others are saved all the same', t => {
  const store = openTestStore(t)
  const body = Array.from({ length: 5 }, (_, i) => ({ name: `N${i}` }))
  const { count, ...more } = encode(store, 'Person', body, { maxBytes: 1_000 })
  t.ok(count > 0 && count < 5, `${count}`)
  t.ok(store.save('Person', body, more).entities.every(({ failure }) => !failure))
  t.same(
    store.all('Person').map(({ ID, name }) => [ID, name]),
    body.map(({ name }, i) => [i + 1, name]),
  )
  t.end()
})

t.test('encoded rows alone: those that cannot be inserted are left', t => {
  const store = openTestStore(t)
  store.save('Company', [{ name: 'Ada', code: 'AB1' }])
  const body = [{ name: 'Bob' }, { name: 'x' }, { name: 'Cyd', code: 'AB1' }, { name: 'Dan', code: 'AB2' }, 7]
  const { encoded } = encode(store, 'Company', body, { trusted: true })
  const [result] = store.writer.run([{ kind: 'insert', dataClass: 'Company', encoded: encoded[0]! }])
  t.same(result, { kind: 'insert', remainingIndexes: Uint32Array.of(1, 2, 4) })
  t.same(
    store.all('Company').map(({ ID, name, __STAMP, __TIMESTAMP }) => [ID, name, __STAMP, __TIMESTAMP]),
    ['Ada', 'Bob', 'Dan'].map((name, i) => [i + 1, name, 1, new Date(NOW).toISOString()]),
  )
  const none = encode(store, 'Company', [{ name: 'x' }, 7], { trusted: true })
  t.same(store.writer.run([{ kind: 'insert', dataClass: 'Company', encoded: none.encoded[0]! }]), [
    { kind: 'insert', remainingIndexes: Uint32Array.of(0, 1) },
  ])
  t.same(store.problems(), [])
  t.end()
})

/** Models in which a key stands in unusual places. */
const MODELS: Record<string, object> = {
  'names beyond ASCII': {
    Größe: {
      key: 'clé',
      attributes: {
        name: { type: 'string' },
        clé: { type: 'long', autoFill: 'increment' },
        größen: { kind: 'relatedEntities', type: 'TeilSelection', inverseName: 'ganzes' },
      },
    },
    Teil: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        ganzesID: { type: 'long' },
        ganzes: { kind: 'relatedEntity', type: 'Größe', foreignKey: 'ganzesID', inverseName: 'größen' },
      },
    },
  },
  'a key that is the foreign key': {
    Größe: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string' },
        teil: { kind: 'relatedEntity', type: 'Teil', foreignKey: 'ID' },
      },
    },
    Teil: { key: 'ID', attributes: { ID: { type: 'long' } } },
  },
}
for (const [what, dataClasses] of Object.entries(MODELS)) {
  t.test(`automatic keys with ${what}, guessed right and wrong`, t => {
    const folder = t.testdir({ plain: {}, other: {} })
    const model = { name: 'keys', dataClasses }
    const [plain, other] = ['plain', 'other'].map(name => openTestStore(t, { path: `${folder}/${name}`, model })) as [
      TestStore,
      TestStore,
    ]
    for (const store of [plain, other])
      store.save(
        'Teil',
        Array.from({ length: 1200 }, (_, i) => ({ ID: i + 1 })),
      )
    for (const [count, nextKey] of [
      [3, 1],
      [4, 8],
      [5, 1],
      [90, 9],
      [10, 1000],
      [2, undefined],
    ] as const) {
      const body = Array.from({ length: count }, (_, i) => ({ name: `é${i}` }))
      const { parts, encoded } = encode(other, 'Größe', body, nextKey === undefined ? {} : { nextKey })
      const expected = plain.save('Größe', body)
      t.same(shown(other.save('Größe', body, { parts, encoded })), shown(expected), `${nextKey}`)
      t.ok(expected.entities.every(({ failure }) => !failure))
    }
    t.same(other.all('Größe'), plain.all('Größe'))
    t.same(other.problems(), [])
    t.end()
  })
}
