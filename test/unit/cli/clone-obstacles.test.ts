/** Copies that meet obstacles: hostile names, an edited model, interruptions, sources that cannot be used. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cloneWorld } from '../../support/database-clones.ts'
import { sqliteFile } from '../../support/sqlite-file.ts'

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
  t.match(JSON.parse((await get('profile?$filter="b_c.b_c.id=2"&$expand=profile&$asArray=true')).toString()), [
    { id: 3, profile: { id: 2 } },
  ])
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
  await t.rejects(world.clone(path), /has a store already/)
  const get = await world.serve()
  t.match(JSON.parse((await get('Thing?$asArray=true')).toString()), [
    { id: 1, name: '5' },
    { id: 7, name: 'x' },
  ])
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
    [join(world.cwd, 'text.db'), /is not a database of SQLite 3/],
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
