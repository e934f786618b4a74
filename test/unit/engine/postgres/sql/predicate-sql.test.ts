/** Filters as conditions in SQL, with their values. */
import t from 'tap'
import type { DataClass } from '../../../../../engine/catalog/dataclass.ts'
import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import { publicView } from '../../../../../engine/catalog/view.ts'
import type { RemoteTable } from '../../../../../engine/postgres/sql/remote-table.ts'
import { PredicateSql, type SqlScope } from '../../../../../engine/postgres/sql/predicate-sql.ts'
import { bindFilter } from '../../../../../engine/query/bind/bind-filter.ts'
import { toParams } from '../../../../../engine/query/parse/parse-params.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'
import { optimizePredicate } from '../../../../../engine/query/plan/optimize.ts'
import { describedTables } from '../../../../support/databases/described-tables.ts'
import { explainPredicate } from '../../../../support/engine/explain-plan.ts'

const table = (name: string, more = {}) => ({ postgres: 'db', table: name, ...more })
const related = (type: string, inverseName: string, foreignKey?: string) =>
  foreignKey
    ? { kind: 'relatedEntity', type, foreignKey, inverseName }
    : { kind: 'relatedEntities', type: `${type}Selection`, inverseName }
const catalog = loadModel({
  name: 'films',
  dataClasses: {
    Film: {
      storage: table('film', { schema: 'my "own"', stamp: 'version', timestamp: 'changed' }),
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        title: { type: 'string', column: 'the "title"' },
        length: { type: 'word' },
        rate: { type: 'number' },
        price: { type: 'decimal', scale: 2 },
        share: { type: 'number' },
        at: { type: 'date' },
        day: { type: 'date', simpleDate: true },
        isNew: { type: 'bool' },
        code: { type: 'uuid' },
        info: { type: 'object', properties: { size: { type: 'number', indexed: true } } },
        poster: { type: 'blob' },
        languageID: { type: 'long' },
        language: related('Language', 'films', 'languageID'),
        studioID: { type: 'long' },
        studio: related('Studio', 'films', 'studioID'),
        reviews: related('Review', 'film'),
      },
    },
    Language: {
      storage: table('language'),
      key: 'ID',
      attributes: { ID: { type: 'long' }, name: { type: 'string' }, films: related('Film', 'language') },
    },
    Studio: {
      key: 'ID',
      attributes: { ID: { type: 'long' }, name: { type: 'string' }, films: related('Film', 'studio') },
    },
    Review: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        stars: { type: 'long' },
        filmID: { type: 'long' },
        film: related('Film', 'reviews', 'filmID'),
      },
    },
  },
})
const tables = describedTables(catalog, {
  Film: {
    ID: 'int4!',
    'the "title"': 'varchar',
    length: 'int2',
    rate: 'numeric(4,2)',
    price: 'numeric(10,2)',
    share: 'float8',
    at: 'timestamptz',
    day: 'date',
    isNew: 'bool',
    code: 'uuid',
    info: 'jsonb',
    poster: 'bytea',
    languageID: 'int4',
    studioID: 'int4',
    version: 'int4!',
    changed: 'timestamptz!',
  },
  Language: { ID: 'int4!', name: 'text!' },
})

/** Questions to other places. */
const asked: string[] = []
const scope: SqlScope = {
  tables: { find: (dataClass: DataClass) => tables.get(dataClass) as RemoteTable | undefined },
  keysWhere(dataClass, predicate) {
    asked.push(`keys of ${dataClass.name}: ${explainPredicate(predicate)}`)
    return [7, 8]
  },
  valuesWhere(relation, predicate) {
    asked.push(`${relation.foreignKey.name} of ${relation.dataClass.name}: ${explainPredicate(predicate)}`)
    return [1]
  },
}

interface Case {
  readonly name: string
  readonly filter: string
  readonly params?: unknown
  readonly sql: string
  readonly values?: readonly string[]
  readonly asked?: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'a whole number is compared by the index of its column',
    filter: 'length = 5',
    sql: 't0."length" = $1::int2',
    values: ['5'],
  },
  { name: 'a number beyond the type of the column is never equal', filter: 'length = 40000', sql: 'false' },
  {
    name: 'a number beyond the type of the column is above all',
    filter: 'length < 40000',
    sql: '((t0."length" IS NOT NULL))',
  },
  {
    name: 'a number between two of the column',
    filter: 'length > 5.5',
    sql: '(t0."length" > $1::int2)',
    values: ['5'],
  },
  {
    name: 'numbers in a list are one value',
    filter: 'length in [1,2,40000]',
    sql: 't0."length" = ANY ($1::int2[])',
    values: ['{"1","2"}'],
  },
  {
    name: 'what differs has a value',
    filter: 'length != 5',
    sql: '(t0."length" IS NOT NULL AND NOT t0."length" = $1::int2)',
    values: ['5'],
  },
  {
    name: 'two bounds',
    filter: 'length >= 1 and length < 9',
    sql: '(t0."length" >= $1::int2 AND t0."length" < $2::int2)',
    values: ['1', '9'],
  },
  {
    name: 'a number of few digits is compared as it is',
    filter: 'rate = 0.1',
    sql: 't0."rate" = $1::numeric',
    values: ['0.1'],
  },
  {
    name: 'NaN counts as null',
    filter: 'rate > 2',
    sql: '((t0."rate" > $1::numeric AND t0."rate" < \'NaN\'::numeric))',
    values: ['2'],
  },
  {
    name: 'a decimal in units of its last place',
    filter: 'price = 1.05',
    sql: 't0."price" = $1::numeric',
    values: ['1.05'],
  },
  {
    name: 'a decimal with more places than the column',
    filter: 'price < 1.055',
    sql: '(t0."price" <= $1::numeric)',
    values: ['1.05'],
  },
  {
    name: 'infinity counts as null',
    filter: 'share <= 0.1',
    sql: '((t0."share" > \'-Infinity\'::float8 AND t0."share" <= $1::float8))',
    values: ['0.1'],
  },
  {
    name: 'a millisecond has 1,000 microseconds',
    filter: 'at = "2020-01-31T15:23:00.5Z"',
    sql: '(t0."at" >= $1::timestamptz AND t0."at" < $2::timestamptz)',
    values: ['2020-01-31 15:23:00.500+00', '2020-01-31 15:23:00.501+00'],
  },
  {
    name: 'a date before Christ',
    filter: 'at < "-000043-03-15"',
    sql: '((t0."at" > \'-infinity\' AND t0."at" < $1::timestamptz))',
    values: ['0044-03-15 00:00:00.000+00 BC'],
  },
  {
    name: 'a date before all others',
    filter: 'at >= "-200000-01-01"',
    sql: '((t0."at" > \'-infinity\' AND t0."at" < \'275760-09-13 00:00:00.001+00\'))',
  },
  {
    name: 'a day',
    filter: 'day > "2020-01-31"',
    sql: '((t0."day" > $1::date AND t0."day" < \'275760-09-14\'))',
    values: ['2020-01-31'],
  },
  { name: 'a bool', filter: 'isNew = true', sql: 't0."isNew" = $1::bool', values: ['t'] },
  {
    name: 'a UUID is compared as one',
    filter: 'code = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"',
    sql: 't0."code" = $1::uuid',
    values: ['a0eebc999c0b4ef8bb6d6bb9bd380a11'],
  },
  {
    name: 'a UUID by its beginning',
    filter: 'code = a0@',
    sql: 'replace(t0."code"::text, \'-\', \'\') COLLATE "C" LIKE $1::text',
    values: ['a0%'],
  },
  {
    name: 'what is not a UUID lies between two',
    filter: 'code > "a0x"',
    sql: '(t0."code" > $1::uuid)',
    values: ['a0ffffffffffffffffffffffffffffff'],
  },
  {
    name: 'a text is compared by its fold',
    filter: 'title = "Él"',
    sql: '(tesser.fold(t0."the ""title""") COLLATE "C") = $1::text',
    values: ['el'],
  },
  {
    name: 'other texts',
    filter: 'title != "a"',
    sql: '(t0."the ""title""" IS NOT NULL AND NOT (tesser.fold(t0."the ""title""") COLLATE "C") = $1::text)',
    values: ['a'],
  },
  {
    name: 'a beginning is a pattern, of which an index serves what is in front of the wildcard',
    filter: 'title begin "50%_"',
    sql: '(tesser.fold(t0."the ""title""") COLLATE "C") LIKE $1::text',
    values: ['50\\%\\_%'],
  },
  {
    name: 'parts of a text',
    filter: 'title = "@a@b"',
    sql: '(tesser.fold(t0."the ""title""") COLLATE "C") LIKE $1::text',
    values: ['%a%b'],
  },
  {
    name: 'texts in a list, with wildcards',
    filter: 'title in ["a","B@"]',
    sql: '((tesser.fold(t0."the ""title""") COLLATE "C") = $1::text OR (tesser.fold(t0."the ""title""") COLLATE "C") LIKE $2::text)',
    values: ['a', 'b%'],
  },
  {
    name: 'a text that no database holds',
    filter: 'title = :1 or title > :2',
    params: ['a\u0000', 'a\u0000b'],
    sql: '(false OR ((tesser.fold(t0."the ""title""") COLLATE "C") > $1::text))',
    values: ['a'],
  },
  {
    name: 'half of a character',
    filter: 'title < :1',
    params: ['a\ud83d'],
    sql: '((tesser.fold(t0."the ""title""") COLLATE "C") < $1::text)',
    values: ['a🐀'],
  },
  { name: 'null', filter: 'title = null', sql: 't0."the ""title""" IS NULL' },
  { name: 'bytes', filter: 'poster != null', sql: 't0."poster" IS NOT NULL' },
  { name: 'JSON null is null', filter: 'info = null', sql: 'nullif(t0."info", \'null\') IS NULL' },
  {
    name: 'a property',
    filter: 'info.a.b = 5',
    sql: "(SELECT coalesce(CASE WHEN jsonb_typeof(t1.v) = 'number' THEN ((t1.v)::numeric >= $1::numeric AND (t1.v)::numeric <= $2::numeric) ELSE false END, false) FROM (SELECT (nullif(t0.\"info\", 'null') #> $3::text[]) AS v) AS t1)",
    values: [
      '4.999999999999999555910790149937383830547332763671875',
      '5.000000000000000444089209850062616169452667236328125',
      '{"a","b"}',
    ],
  },
  {
    name: 'a length',
    filter: 'info.length = "x"',
    sql: "(SELECT coalesce(CASE WHEN jsonb_typeof(t1.v) = 'string' THEN (tesser.fold((t1.v #>> '{}')) COLLATE \"C\") = $1::text ELSE false END, false) FROM (SELECT (SELECT CASE jsonb_typeof(t2.v) WHEN 'object' THEN t2.v -> $2::text WHEN 'array' THEN to_jsonb(jsonb_array_length(t2.v)) END FROM (SELECT nullif(t0.\"info\", 'null') AS v OFFSET 0) AS t2) AS v) AS t1)",
    values: ['x', 'length'],
  },
  {
    name: 'elements',
    filter: 'info.tags[] = "x"',
    sql: "(SELECT EXISTS (SELECT FROM jsonb_array_elements(CASE WHEN jsonb_typeof(t1.v) = 'array' THEN t1.v ELSE '[]' END) AS t2 (v) WHERE coalesce(CASE WHEN jsonb_typeof(t2.v) = 'string' THEN (tesser.fold((t2.v #>> '{}')) COLLATE \"C\") = $1::text ELSE false END, false)) FROM (SELECT (nullif(t0.\"info\", 'null') #> $2::text[]) AS v) AS t1)",
    values: ['x', '{"tags"}'],
  },
  {
    name: 'all elements',
    filter: 'info.tags[] != true',
    sql: "(SELECT coalesce((SELECT bool_and((NOT (t2.v IS NULL OR jsonb_typeof(t2.v) = 'null') AND NOT CASE WHEN jsonb_typeof(t2.v) = 'boolean' THEN (t2.v)::bool = $1::bool ELSE false END)) FROM jsonb_array_elements(CASE WHEN jsonb_typeof(t1.v) = 'array' THEN t1.v ELSE '[]' END) AS t2 (v)), false) FROM (SELECT (nullif(t0.\"info\", 'null') #> $2::text[]) AS v) AS t1)",
    values: ['t', '{"tags"}'],
  },
  {
    name: 'an indexed property is a property like others',
    filter: 'info.size > 5',
    sql: "(SELECT coalesce(CASE WHEN jsonb_typeof(t1.v) = 'number' THEN ((t1.v)::numeric > $1::numeric) ELSE false END, false) FROM (SELECT (nullif(t0.\"info\", 'null') #> $2::text[]) AS v) AS t1)",
    values: ['5.000000000000000444089209850062616169452667236328125', '{"size"}'],
  },
  {
    name: 'stamp and time',
    filter: '__STAMP = 3 and __TIMESTAMP > "2020-01-31"',
    sql: '((coalesce(t0."version", 1)::int8 & 4294967295) = $1::int8 AND ((t0."changed"::timestamptz >= $2::timestamptz AND t0."changed"::timestamptz < \'275760-09-13 00:00:00.001+00\')))',
    values: ['3', '2020-01-31 00:00:00.001+00'],
  },
  { name: 'the key', filter: '__KEY in [1,2]', sql: 't0."ID" = ANY ($1::int4[])', values: ['{"1","2"}'] },
  {
    name: 'N→1 in one database',
    filter: 'language.name = "x"',
    sql: 'EXISTS (SELECT FROM "public"."language" AS t1 WHERE t1."ID" = t0."languageID" AND (tesser.fold(t1."name") COLLATE "C") = $1::text)',
    values: ['x'],
  },
  {
    name: 'N→1 where null is enough',
    filter: 'language.name = null',
    sql: 'NOT EXISTS (SELECT FROM "public"."language" AS t1 WHERE t1."ID" = t0."languageID" AND ((t1."name" IS NULL) IS NOT TRUE))',
  },
  {
    name: 'no related entity',
    filter: 'language = null',
    sql: 'NOT EXISTS (SELECT FROM "public"."language" AS t1 WHERE t1."ID" = t0."languageID")',
  },
  {
    name: 'a key of a related entity',
    filter: 'language = 2',
    sql: 'EXISTS (SELECT FROM "public"."language" AS t1 WHERE t1."ID" = t0."languageID" AND t1."ID" = $1::int4)',
    values: ['2'],
  },
  {
    name: 'not, over N→1 and 1→N',
    filter: 'not(language.films.length > 1)',
    sql: 'NOT EXISTS (SELECT FROM "public"."language" AS t1 WHERE t1."ID" = t0."languageID" AND EXISTS (SELECT FROM "my ""own"""."film" AS t2 WHERE t2."languageID" = t1."ID" AND (t2."length" > $1::int2)))',
    values: ['1'],
  },
  {
    name: 'N→1 to another place',
    filter: 'studio.name = "x"',
    sql: 't0."studioID" = ANY ($1::int4[])',
    values: ['{"7","8"}'],
    asked: ['keys of Studio: name = "x"'],
  },
  {
    name: 'N→1 to another place, where null is enough',
    filter: 'studio.name = null',
    sql: '(t0."studioID" = ANY ($1::int4[])) IS NOT TRUE',
    values: ['{"7","8"}'],
    asked: ['keys of Studio: complement\n  name is null'],
  },
  {
    name: '1→N to another place',
    filter: 'reviews.stars > 3',
    sql: 't0."ID" = $1::int4',
    values: ['1'],
    asked: ['filmID of Review: stars > 3'],
  },
  {
    name: 'no related entities',
    filter: 'reviews = null',
    sql: '(t0."ID" = $1::int4) IS NOT TRUE',
    values: ['1'],
    asked: ['filmID of Review: always'],
  },
  {
    name: 'or, except',
    filter: 'length = 1 or title = "a" except rate = 1',
    sql: '((t0."length" = $1::int2 OR (tesser.fold(t0."the ""title""") COLLATE "C") = $2::text) AND ((t0."rate" = $3::numeric) IS NOT TRUE))',
    values: ['1', 'a', '1'],
  },
  {
    name: 'SQL in a value stays a value',
    filter: 'title = :1',
    params: ["'; DROP TABLE film; --"],
    sql: '(tesser.fold(t0."the ""title""") COLLATE "C") = $1::text',
    values: ["'; drop table film; --"],
  },
]

for (const { name, filter, params, sql, values = [], asked: questions = [] } of cases) {
  t.test(name, async t => {
    asked.length = 0
    const film = catalog.dataClassesByName.get('Film')!
    const parsed = params === undefined ? undefined : toParams(params)
    const predicate = optimizePredicate(bindFilter(parseQuery(filter).condition!, film, parsed, publicView(catalog)))
    const writer = new PredicateSql(scope)
    const from = writer.from(tables.get(film) as RemoteTable)
    const statement = writer.parameters.statement(writer.condition(predicate, from))

    t.equal(statement.text, sql)
    t.same(statement.values, values)
    t.same(asked, questions)
  })
}
