/** Copies that meet obstacles: hostile names, an edited model, interruptions, sources that cannot be used. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import type { Config } from '../../../config/load-config.ts'
import { openEngine } from '../../../engine/index.ts'
import { check } from '../../../kernel/cli/check.ts'
import { cloneDatabase } from '../../../kernel/cli/clone-database/clone-database.ts'
import { load } from '../../../kernel/cli/load.ts'
import { createServer, engineOptions } from '../../../kernel/main.ts'
import { cloneWorld } from '../../support/commands/database-clones.ts'
import { sqliteFile } from '../../support/databases/sqlite-file.ts'

t.setTimeout(600_000)

t.test('SQLite: hostile names, a mixture of values, tables without a key', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'odd.db'),
    `CREATE TABLE "__KEY" ("$filter" text, "a" text, "A" text2); `.replace('"A" text2', '"Ä" text') +
      `INSERT INTO "__KEY" VALUES ('x', 'y', 'z');
       CREATE TABLE "b""c" (id integer PRIMARY KEY, parent int REFERENCES "B""C");
       INSERT INTO "b""c" VALUES (1, 99), (2, NULL), (3, 2);
       CREATE TABLE profile (id integer PRIMARY KEY REFERENCES "b""c", twin int UNIQUE REFERENCES profile);
       INSERT INTO profile VALUES (2, NULL), (3, 2);
       CREATE TABLE "users" (x); CREATE TABLE "usersSelection" (x);`,
  )
  const { isComplete, text } = await world.clone(path)
  t.notOk(isComplete)
  t.match(text, '1 row could not be saved in full')
  const [wrong] = world.rejected().b_c!
  t.match(wrong, { line: 1, row: { __KEY: '1', parent: '99' } })
  const get = await world.serve()
  t.match(JSON.parse((await get('_KEY?$asArray=true')).toString()), [{ ID: 1, _filter: 'x', a: 'y', Ä: 'z' }])
  t.match(
    JSON.parse((await get('profile?$filter="b_c.parent_b_c.id=2"&$expand=twin_profile&$asArray=true')).toString()),
    [{ id: 3, twin_profile: { id: 2 } }],
  )
  t.match(JSON.parse((await get('b_c?$asArray=true&$orderby="id"')).toString()), [
    { id: 1, parent: null },
    { id: 2, parent: null },
    { id: 3, parent: 2 },
  ])
})

t.test('the model can be edited before the rows are copied', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'a.db'),
    `CREATE TABLE a (id integer PRIMARY KEY, n text); INSERT INTO a VALUES (1, '5'), (7, 'x')`,
  )
  const elsewhere = { ...world.config, model: join(world.cwd, 'new', 'folder', 'model.json') }
  const copy = { source: path, modelOnly: true, resume: false }
  t.ok(await cloneDatabase(elsewhere, copy, () => {}))
  t.ok(existsSync(elsewhere.model), 'its folder is made')
  const { text } = await world.clone(path, { modelOnly: true })
  t.match(text, 'is written')
  t.notOk(existsSync(world.config.data))
  const model = JSON.parse(readFileSync(world.config.model, 'utf8'))
  model.dataClasses = { Thing: { ...model.dataClasses.a, extraProperties: { table: 'b' } } }
  const write = () => writeFileSync(world.config.model, JSON.stringify(model))
  write()
  await t.rejects(world.clone(path), /dataclass Thing: there is no table "b".*extraProperties.table names another one/)
  model.dataClasses.Thing.extraProperties.table = 'a'
  model.dataClasses.Thing.attributes = { id: { type: 'long', autoFill: 'increment' }, name: { type: 'string' } }
  write()
  await t.rejects(world.clone(path), /Thing.name: the table "a" has no column "name"/)
  t.notOk(existsSync(world.config.data), 'nothing was made')
  model.dataClasses.Thing.attributes.name.extraProperties = { column: 'n' }
  write()
  t.ok((await world.clone(path)).isComplete)
  await t.rejects(world.clone(path), /already has a store/)
  const get = await world.serve()
  t.match(JSON.parse((await get('Thing?$asArray=true')).toString()), [
    { id: 1, name: '5' },
    { id: 7, name: 'x' },
  ])
})

t.test('SQLite: a date of an edited model does not lose its time', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'dates.db'),
    `CREATE TABLE a (id integer PRIMARY KEY, day DATE);
     INSERT INTO a VALUES (1, '2020-01-31'), (2, '2020-01-31 13:23'), (3, '2020-01-31T00:30:00+02:00'), (4, '2020-01-31 00:00:00')`,
  )
  const { text } = await world.clone(path, { modelOnly: true })
  t.match(text, 'a.day has values with a time: it is a date with time')
  const model = world.model()
  model.dataClasses.a.attributes.day.simpleDate = true
  writeFileSync(world.config.model, JSON.stringify(model))
  t.notOk((await world.clone(path)).isComplete)
  t.match(world.rejected().a, [
    { row: { id: '2', day: '2020-01-31 13:23' }, errors: [/^day: "2020-01-31 13:23" has a time, in UTC, which/] },
    { row: { id: '3' }, errors: [/has a time/] },
  ])
  const get = await world.serve()
  t.match(JSON.parse((await get('a?$asArray=true')).toString()), [{ day: '2020-01-31' }, { id: 4, day: '2020-01-31' }])
})

t.test('rows of a table without a key that are refused, corrected and loaded, replace no other entity', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'keyless.db'),
    `CREATE TABLE a (n INTEGER, big INTEGER); INSERT INTO a VALUES (1, 9007199254740993), ('two', 9007199254740993);
     CREATE TABLE b (name text PRIMARY KEY NOT NULL); INSERT INTO b VALUES ('é'), ('É')`,
  )
  t.notOk((await world.clone(path)).isComplete)
  const { a, b } = world.rejected()
  t.same(a, [{ line: 2, errors: ['n: "two" is text, not a number'], row: { n: 'two', big: '9007199254740993' } }])
  t.match(b![0]!.errors.join(), /an entity of b with the key "É" exists; loaded as an update, the row changes it/)
  t.notMatch(JSON.stringify([a, b]), '__STAMP')
  t.equal(statSync(world.config.data).mode & 0o777, 0o700)
  const errors = join(world.cwd, 'a.errors.ndjson')
  writeFileSync(errors, readFileSync(errors, 'utf8').replaceAll('"two"', '"2"'))
  await insertOne(world.config, { n: 100 })
  const output = new PassThrough().resume() as unknown as NodeJS.WriteStream
  t.ok(await load(world.config, { file: errors, into: 'a', update: true, errors: join(world.cwd, 'again') }, output))
  const get = await world.serve()
  t.match(JSON.parse((await get('a?$asArray=true&$orderby="ID"')).toString()), [
    { ID: 1, n: 1 },
    { ID: 2, n: 100 },
    { ID: 3, n: 2 },
  ])
})

/** Saves an entity of the dataclass a. */
async function insertOne(config: Config, entity: object): Promise<void> {
  const engine = await openEngine({ ...engineOptions(config), memoryBytes: 0 })
  const body = Buffer.from(JSON.stringify(entity))
  await engine.saves.write({ kind: 'save', dataClass: 'a', body, mode: 'update', atomic: false, trusted: true })
  await engine.close()
}

t.test('views that are not copied are listed', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'views.db'),
    `CREATE TABLE a (id integer PRIMARY KEY); CREATE VIEW one AS SELECT id FROM a; CREATE VIEW two AS SELECT id FROM a`,
  )
  const { text } = await world.clone(path, { views: { two: 'id' } })
  t.match(text, 'views are copied only if you name them, with --view NAME=KEY or --view NAME; there are: one\n')
  await t.rejects(world.clone(path, { views: { onne: null } }), { message: /has no table or view "onne"; .*"one"/ })
})

t.test('a store that is an unfinished copy is neither served nor loaded into', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(join(world.cwd, 'a.db'), 'CREATE TABLE a (id integer PRIMARY KEY)')
  await world.clone(path)
  const { config } = world
  const wanted = `${config.data} is an unfinished copy; continue with tesser clone … --resume, or remove the folder`
  for (const name of ['clone.json', 'clone.ndjson']) {
    const marker = join(config.data, name)
    writeFileSync(marker, '')
    await t.rejects(createServer(config, pino({ level: 'silent' })), { message: wanted })
    await t.rejects(insertOne(config, {}), { message: wanted })
    const found: string[] = []
    for await (const text of check(config)) found.push(text)
    t.same(found, [`${config.data}: ${wanted}`])
    rmSync(marker)
  }
  await (await createServer(config, pino({ level: 'silent' }))).close()
})

t.test('an interrupted copy continues without a row twice or missing', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'big.db'),
    `CREATE TABLE a (id integer PRIMARY KEY, up int REFERENCES a);
     CREATE TABLE b (x int, y int, a_id int REFERENCES a, PRIMARY KEY (x, y));
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO a SELECT i, CASE WHEN i % 8 = 5 THEN 60001 - i END FROM n;
     INSERT INTO b SELECT id, id, id FROM a LIMIT 30000`,
  )
  await t.rejects(world.clone(path, { resume: true }), /there is nothing to resume/)
  let runs = 0
  for (let isComplete = false; !isComplete; runs++) {
    const stop = new AbortController()
    // Polls of the signal, so that each run ends at another place.
    let polls = 0
    const signal = new Proxy(stop.signal, {
      get(target, name) {
        if (name === 'aborted' && polls++ > 8 * (runs + 1)) stop.abort()
        const value = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    ;({ isComplete } = await world.clone(path, { resume: runs > 0 }, signal))
    if (!isComplete) await t.rejects(world.clone(path), /was interrupted; --resume continues/)
  }
  t.ok(runs > 2, `${runs} runs`)
  t.notOk(world.isUnfinished())
  const get = await world.serve()
  t.equal(JSON.parse((await get('a?$top=0')).toString()).__COUNT, 60_000)
  t.equal(JSON.parse((await get('b?$top=0')).toString()).__COUNT, 30_000)
  t.equal(JSON.parse((await get('a?$top=0&$filter="up!=null"')).toString()).__COUNT, 7_500)
  t.match(JSON.parse((await get('a(5)')).toString()), { up: 59_996 })
})

t.test('sources that cannot be used', async t => {
  const world = cloneWorld(t)
  writeFileSync(join(world.cwd, 'text.db'), 'not a database at all')
  const empty = sqliteFile(join(world.cwd, 'empty.db'), 'CREATE TABLE a (b); DROP TABLE a')
  const cases = [
    [join(world.cwd, 'none.db'), /there is no file/],
    [join(world.cwd, 'text.db'), /is not a SQLite 3 database/],
    [empty, /has no tables/],
    ['postgres://u:secret@127.0.0.1:1/x', /ECONNREFUSED/],
    ['mysql://u:secret@127.0.0.1:1/x', /ECONNREFUSED/],
    ['mysql://u:secret@127.0.0.1:1/', /names no database/],
    ['postgres://u:se cret@[/x', /cannot be read/],
    ['oracle://u:secret@host/x', /oracle is not a database that can be copied/],
  ] as const
  for (const [source, message] of cases) {
    const outcome = await world.clone(source).catch(error => error)
    t.match(outcome.message, message, source)
    t.notMatch(outcome.message, /secret|se cret/)
  }
})
