/** Values of a database that their attributes cannot have: they are null, and noted once. */
import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { changesOfSubject } from '../../../../engine/data/store-options.ts'
import { DescribedTables } from '../../../../engine/postgres/tables/described-tables.ts'
import { RemoteRows } from '../../../../engine/postgres/reads/remote-rows.ts'
import type { RemoteTable } from '../../../../engine/postgres/sql/remote-table.ts'
import { rowLayout } from '../../../../engine/row-format/row-layout.ts'
import { describedTables } from '../../../support/databases/described-tables.ts'

const catalog = loadModel({
  name: 'unfit',
  dataClasses: {
    Film: {
      storage: { postgres: 'db', table: 'film' },
      key: 'ID',
      attributes: { ID: { type: 'long' }, rate: { type: 'number' }, made: { type: 'date' } },
    },
  },
})
const film = catalog.dataClassesByName.get('Film')!
const table = describedTables(catalog, { Film: { ID: 'int4!', rate: 'float8', made: 'timestamptz' } }).get(
  film,
) as RemoteTable

t.test('the first value of each column is noted, with its key', async t => {
  const notes: string[] = []
  const { onUnfit } = new DescribedTables(catalog, text => notes.push(text))
  const rows = new RemoteRows(table, rowLayout(film, 1, { dateOnlyFormat: 'iso' }), onUnfit)
  for (const cells of [
    ['1', '0.5', '2020-01-31 00:00:00+00', '1', null],
    ['2', 'NaN', null, '1', null],
    ['3', 'Infinity', 'infinity', '1', null],
    ['4', 'NaN', '294276-12-31 00:00:00+00', '1', null],
  ])
    rows.add(cells)
  t.same(
    [1, 2, 3, 4].map(id => rows.get(id)!.value(film.attributesByName.get('rate') as never)),
    [0.5, null, null, null],
  )
  t.same(notes, [
    'Film.rate is null where the value of the column "public"."film"."rate" cannot be shown as a number; the first is that of the row with the key 2: it is not a number that a double can hold',
    'Film.made is null where the value of the column "public"."film"."made" cannot be shown as a date; the first is that of the row with the key 3: it is infinite',
  ])
})

t.test('threads that find the same value note it once', async t => {
  const notes: string[] = []
  const note = changesOfSubject(text => notes.push(text))
  note('one', 'warn', 'Film.rate')
  note('two', 'warn', 'Film.rate')
  note('three')
  note('three')
  note('four', 'warn', 'Film.made')
  t.same(notes, ['one', 'three', 'three', 'four'])
})

t.test('a subject is noted when its state changes, and a warning comes not too soon after the last one', async t => {
  const notes: string[] = []
  const clock = { now: 0 }
  const note = changesOfSubject(
    text => notes.push(text),
    () => clock.now,
  )
  const at = (seconds: number, state: 'away' | 'back', subject = 'main') => {
    clock.now = seconds * 1000
    note(`${subject} ${state} at ${seconds}`, state === 'away' ? 'warn' : undefined, subject, state)
  }
  at(0, 'away')
  at(1, 'away')
  at(2, 'back')
  at(3, 'back')
  at(4, 'away')
  at(5, 'back')
  at(6, 'away', 'crm')
  at(9, 'away')
  at(10, 'away')
  at(11, 'away')
  at(12, 'back')
  t.same(notes, ['main away at 0', 'main back at 2', 'crm away at 6', 'main away at 10', 'main back at 12'])
})
