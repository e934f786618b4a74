/** Statements of pages and keys. */
import t from 'tap'
import type { DataClass } from '../../../../../engine/catalog/dataclass.ts'
import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import { publicView } from '../../../../../engine/catalog/view.ts'
import type { RemoteTable } from '../../../../../engine/postgres/sql/remote-table.ts'
import type { SqlScope } from '../../../../../engine/postgres/sql/predicate-sql.ts'
import { partsOf } from '../../../../../engine/postgres/sql/key-parts.ts'
import { keysStatement, NO_SCOPE, pageStatement } from '../../../../../engine/postgres/sql/statements.ts'
import { bindOrderBy } from '../../../../../engine/query/bind/bind-order-by.ts'
import { parseOrderBy } from '../../../../../engine/query/parse/parse-order-by.ts'
import { describedTables } from '../../../../support/databases/described-tables.ts'

const catalog = loadModel({
  name: 'orders',
  dataClasses: {
    Film: {
      storage: { postgres: 'db', table: 'film' },
      key: 'ID',
      attributes: {
        ID: { type: 'uuid' },
        title: { type: 'string' },
        made: { type: 'date' },
        changed: { type: 'date' },
        rate: { type: 'number' },
        info: { type: 'object' },
      },
    },
    Note: {
      storage: { postgres: 'db', table: 'note' },
      key: 'ID',
      attributes: {
        ID: { type: 'string', column: ['film', 'no'] },
        part: { kind: 'relatedEntity', type: 'Part', foreignKey: 'ID' },
      },
    },
    Part: {
      storage: { postgres: 'db', table: 'part' },
      key: 'ID',
      attributes: { ID: { type: 'string', column: ['film', 'no'] }, name: { type: 'string' } },
    },
  },
})
const columns = {
  Film: { ID: 'uuid!', title: 'text!', made: 'timestamptz!', changed: 'timestamptz', rate: 'float8!', info: 'jsonb' },
  Note: { film: 'text!', no: 'int4!' },
  Part: { film: 'text!', no: 'int4!', name: 'text' },
}
const tables = describedTables(catalog, columns)
const tableOf = (name: string) => tables.get(catalog.dataClassesByName.get(name)!) as RemoteTable
const scope: SqlScope = {
  tables: { find: (dataClass: DataClass) => tables.get(dataClass) as RemoteTable },
  keysWhere: () => [],
  valuesWhere: () => [],
}

const orders: readonly { name: string; order: string; sql: string }[] = [
  { name: 'the default order is that of the key', order: '', sql: '' },
  { name: 'a column without null is sorted as it is', order: 'made desc', sql: 't0."made" DESC' },
  { name: 'numbers too', order: 'rate', sql: 't0."rate" ASC' },
  {
    name: 'null is lowest',
    order: 'changed desc',
    sql: `CASE WHEN (t0."changed" > '-infinity' AND t0."changed" < '275760-09-13 00:00:00.001+00') THEN date_trunc('milliseconds', t0."changed") END DESC NULLS LAST`,
  },
  {
    name: 'the milliseconds decide before the next key',
    order: 'made, rate',
    sql: `CASE WHEN (t0."made" > '-infinity' AND t0."made" < '275760-09-13 00:00:00.001+00') THEN date_trunc('milliseconds', t0."made") END ASC NULLS FIRST, t0."rate" ASC`,
  },
  { name: 'texts by their fold', order: 'title', sql: '(tesser.fold(t0."title") COLLATE "C") ASC' },
  { name: 'UUIDs as they are', order: 'ID desc', sql: 't0."ID" DESC' },
]

for (const { name, order, sql } of orders) {
  t.test(name, async t => {
    const film = catalog.dataClassesByName.get('Film')!
    const orderBy = order === '' ? [] : bindOrderBy(parseOrderBy(order), film, publicView(catalog))
    const page = { orderBy, skip: 20, count: 10, columns: 'key', isCounted: false } as const
    const none = { among: undefined, referring: undefined, predicate: undefined }
    const statement = pageStatement(tableOf('Film'), { ...page, ...none }, scope)
    t.equal(
      statement.text,
      `SELECT t0."ID" FROM "public"."film" AS t0 ORDER BY ${sql && `${sql}, `}t0."ID" LIMIT 10 OFFSET $1::int8`,
    )
    t.same(statement.values, ['20'])
  })
}

t.test('an order over a relation whose key is in several columns', async t => {
  const orderBy = bindOrderBy(parseOrderBy('part.name'), catalog.dataClassesByName.get('Note')!, publicView(catalog))
  const page = { orderBy, skip: 0, count: 10, columns: 'key', isCounted: false } as const
  const none = { among: undefined, referring: undefined, predicate: undefined }
  const { text } = pageStatement(tableOf('Note'), { ...page, ...none }, scope)
  const keyOf = (alias: string): string =>
    ['film', 'no']
      .map(column => `regexp_replace(${alias}."${column}"::text COLLATE "C", '([~\\\\])', '\\\\\\1', 'g')`)
      .join(` || '~' || `)
  t.equal(
    text,
    `SELECT ${keyOf('t0')} FROM "public"."note" AS t0 LEFT JOIN "public"."part" AS t1 ON ${keyOf('t1')} = ${keyOf('t0')} ORDER BY (tesser.fold(t1."name") COLLATE "C") ASC NULLS FIRST, t0."film", t0."no" LIMIT 10`,
  )
})

t.test('keys of several columns are compared by the index of these', async t => {
  const keys = ['a\\~b~5', 'c~05', 'd~99999999999', 'e', 'f~x', 'g~-1', 'h\0~1']
  const { text, values } = keysStatement(tableOf('Part'), keys, NO_SCOPE)
  t.match(text, /WHERE \(t0\."film", t0\."no"\) IN \(SELECT \* FROM unnest\(\$1::text\[\], \$2::int4\[\]\)\)$/)
  t.same(values, ['{"a~b","g"}', '{"5","-1"}'])
})

t.test('keys that the column cannot have are left out', async t => {
  const { text, values } = keysStatement(tableOf('Film'), ['A0EEBC999C0B4EF8BB6D6BB9BD380A11', 'no'], NO_SCOPE)
  t.match(text, /WHERE t0\."ID" = \$1::uuid$/)
  t.same(values, ['a0eebc999c0b4ef8bb6d6bb9bd380a11'])
})

t.test('parts of keys', async t => {
  t.same(partsOf('a~b', 2), ['a', 'b'])
  t.same(partsOf('a\\~b~\\\\', 2), ['a~b', '\\'])
  t.same(partsOf('~', 2), ['', ''])
  for (const text of ['a', 'a~b~c', '\\a~b', 'a~b\\', 'a\\\\~b\\c']) t.equal(partsOf(text, 2), undefined, text)
})
