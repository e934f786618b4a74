/** Texts for clients by SQLSTATE. */
import t from 'tap'
import {
  connectionStateOf,
  expectedValue,
  failureOf,
  isOutdated,
  refusalOf,
  stateOf,
} from '../../../../engine/postgres/database/sql-states.ts'

t.test('a code, or else its class, has a text', async t => {
  t.equal(stateOf('53300'), 'has no connection left')
  t.equal(stateOf('53400'), 'has too few resources now')
  for (const code of ['40001', '40P01', '55P03', '25006', '57P01', '57P02', '57P03']) t.type(stateOf(code), 'string')
  for (const code of ['42501', '22012', '55000', 'XX000']) t.equal(stateOf(code), undefined)
  t.equal(connectionStateOf('28P01'), 'does not admit the role of the connection')
  t.equal(connectionStateOf('57P03'), stateOf('57P03'))
  t.equal(connectionStateOf('42501'), undefined)
  t.equal(failureOf('42501'), 'the role of the connection has no right to do this')
  t.equal(failureOf('XX002'), 'it has an internal error')
  t.equal(failureOf('99999'), 'it cannot run it')
  t.equal(refusalOf('22999'), 'a rule of the table cannot work with its values')
  t.equal(refusalOf('23999'), 'a rule of the table')
  t.equal(refusalOf('42501'), undefined)
})

t.test('no text has a code', async t => {
  for (const code of ['22001', '22P02', '23514', '40001', '42501', '42P01', '53300', '54000', '57P03', 'XX000', '1']) {
    for (const text of [stateOf(code), failureOf(code), refusalOf(code), expectedValue(code, 'int4')])
      t.notMatch(text ?? '', /\b\d[0-9A-Z]{4}\b|\bXX/)
  }
})

t.test('tables that are not as they were', async t => {
  for (const code of ['42P01', '42703', '42883', '42804', '3F000', '0A000']) t.ok(isOutdated(code))
  for (const code of ['42501', '42601', '22012']) t.notOk(isOutdated(code))
})
