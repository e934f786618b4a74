/** Attributes that are unique together: what is saved is what a naive reference lets in, by every way in which values change. */
import t from 'tap'
import { fold } from '../../../../engine/base/text/fold.ts'
import { randomOf } from '../../../support/base/random.ts'
import { isLong, longCount, seeds } from '../../../support/runner/rounds.ts'
import { codesOf, openTestStore, type TestStore } from '../../../support/engine/test-store.ts'

const MODEL = {
  name: 'library',
  dataClasses: {
    Copy: { key: 'ID', attributes: { ID: { type: 'string' } } },
    Loan: {
      key: 'ID',
      unique: [
        ['copyID', 'open'],
        ['title', 'day', 'size'],
      ],
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        copyID: { type: 'string' },
        copy: { kind: 'relatedEntity', type: 'Copy', foreignKey: 'copyID', onDelete: 'setNull' },
        open: { type: 'bool' },
        title: { type: 'string' },
        day: { type: 'date', simpleDate: true },
        size: { type: 'decimal', scale: 2 },
      },
    },
  },
}
const LISTS = MODEL.dataClasses.Loan.unique
/** Texts with quotes, commas and one more letter than an index entry holds. */
const LONG = 'x'.repeat(700)
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  copyID: ['a', 'A', 'b', null],
  open: [true, true, false, null],
  title: ['Ä', 'a', '1","2', '1', `${LONG}a`, `${LONG}b`, null],
  day: ['2026-01-31', '2026-02-01', null],
  size: [1, 1.5, null],
}

type Loan = Record<string, unknown>
const comparable = (value: unknown): unknown => (typeof value === 'string' ? fold(value) : value)
const isTaken = (loans: readonly Loan[], loan: Loan): boolean =>
  LISTS.some(names =>
    loans.some(other =>
      names.every(name => (loan[name] ?? null) !== null && comparable(loan[name]) === comparable(other[name] ?? null)),
    ),
  )

const shown = (store: TestStore): unknown[] =>
  store.all('Loan').map(loan => ['ID', ...Object.keys(VALUES)].map(name => comparable(loan[name])))

for (const seed of seeds(isLong ? longCount(200) : 8)) {
  t.test(`seed ${seed}`, async t => {
    const random = randomOf(seed)
    const store = openTestStore(t, { model: MODEL })
    store.save('Copy', [{ ID: 'A' }, { ID: 'b' }])
    let loans: Loan[] = []
    const values = (): Loan =>
      Object.fromEntries(
        Object.entries(VALUES).flatMap(([name, all]) => (random.chance(0.7) ? [[name, random.pick(all)]] : [])),
      )
    for (let i = 0; i < 40; i++) {
      const atomic = random.chance(0.3)
      const body = Array.from({ length: random.integer(1, 4) }, () => {
        const old = loans.length > 0 && random.chance(0.5) ? random.pick(loans) : undefined
        return { ...values(), ...(old && { __KEY: String(old.ID), ID: old.ID }) }
      })
      const before = loans
      const expected = body.map(({ __KEY, ...loan }: Loan) => {
        const old = loan.ID === undefined ? undefined : loans.find(({ ID }) => ID === loan.ID)
        const next = { ...old, ...loan }
        if (
          isTaken(
            loans.filter(each => each !== old),
            next,
          )
        )
          return false
        // Numbers of new entities are those that the store gives.
        loans = old ? loans.map(each => (each === old ? next : each)) : [...loans, next]
        return true
      })
      if (atomic && expected.includes(false)) loans = before
      const result = store.save('Loan', body, { atomic, anyStamp: true })
      if (!atomic)
        t.same(
          result.entities.map(({ failure }) => !failure),
          expected,
          JSON.stringify(body),
        )
      for (const { failure } of result.entities) if (failure && !atomic) t.equal(codesOf(failure.error)[0], 1115)
      const keys = store.all('Loan').map(({ ID }) => ID)
      loans.forEach((loan, at) => {
        loan.ID ??= keys[at]
      })
      t.same(
        shown(store),
        loans.map(loan => ['ID', ...Object.keys(VALUES)].map(name => comparable(loan[name] ?? null))),
      )
      if (i === 20) {
        // Foreign keys become null, so that their loans are free.
        store.delete('Copy', [0])
        loans = loans.map(loan => (comparable(loan.copyID) === 'a' ? { ...loan, copyID: null } : loan))
        store.save('Copy', { ID: 'A' })
      }
    }
    t.same(store.problems(), [])
  })
}
