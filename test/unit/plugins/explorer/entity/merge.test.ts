import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import type { Input } from '../../../../../plugins/explorer/page/entity/editor.ts'
import { changesAfter, fileRows, mergeRows } from '../../../../../plugins/explorer/page/entity/merge.ts'

const NAMES = ['a', 'b', 'c']
type Values = Readonly<Record<string, Input>>
const rowsOf = (base: Values, mine: Values, theirs: Values) =>
  mergeRows(
    NAMES,
    name => base[name] ?? null,
    new Map(Object.entries(mine)),
    name => theirs[name] ?? null,
  )

t.test('a change of one side is accepted', async t => {
  const rows = rowsOf({ a: '1', b: '2', c: '3' }, { a: 'x' }, { a: '1', b: 'y', c: '3' })
  t.same(rows, [
    { name: 'a', base: '1', mine: 'x', theirs: '1', isConflict: false, from: 'mine' },
    { name: 'b', base: '2', mine: '2', theirs: 'y', isConflict: false, from: 'theirs' },
  ])
  t.same([...changesAfter(rows, new Map())], [['a', 'x']])
})

t.test('a conflict is chosen, and the same change on both sides is not a conflict', async t => {
  const rows = rowsOf({ a: '1', b: '2' }, { a: 'x', b: null }, { a: 'y', b: null })
  t.same(
    rows.map(({ name, isConflict }) => [name, isConflict]),
    [
      ['a', true],
      ['b', false],
    ],
  )
  t.same([...changesAfter(rows, new Map([['a', 'theirs']]))], [])
  t.same([...changesAfter(rows, new Map([['a', 'mine']]))], [['a', 'x']])
})

t.test('the merged entity has every change of either side', async t => {
  const value = fc.constantFrom<Input>(null, '1', '2', true)
  const values = fc.record({ a: value, b: value, c: value })
  fc.assert(
    fc.property(values, fc.dictionary(fc.constantFrom(...NAMES), value), values, (base, mine, theirs) => {
      const changes = changesAfter(rowsOf(base, mine, theirs), new Map())
      for (const name of NAMES as (keyof typeof base)[]) {
        const merged = changes.has(name) ? changes.get(name) : theirs[name]
        const my = name in mine ? mine[name] : base[name]
        if (my !== base[name]) t.equal(merged, my, 'mine wins where the user does not choose')
        else t.equal(merged, theirs[name])
      }
    }),
  )
})

t.test('a changed file is a conflict if others have changed it too', async t => {
  const files = new Map([
    ['flag', 'mine'],
    ['seal', null],
    ['gone', null],
    ['first', 'mine'],
  ])
  const before: Values = { flag: '/1', seal: '/1', gone: '/1' }
  const now: Values = { flag: '/2', seal: '/2' }
  const of = (values: Values) => (name: string) => values[name] as string | undefined
  const rows = fileRows(files, of(before), of(now))
  t.same(
    rows.map(({ name, isConflict }) => [name, isConflict]),
    [
      ['flag', true],
      ['seal', true],
      ['first', false],
    ],
  )
  t.same(
    [...changesAfter(rows, new Map([['flag', 'theirs']]))],
    [
      ['seal', null],
      ['first', 'mine'],
    ],
  )
})
