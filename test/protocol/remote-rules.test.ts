/**
 * Rules of events of entities that are in PostgreSQL: what they have read there still holds when the save or the deletion is committed.
 * Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { type SqlServer, startPostgres } from '../support/databases/sql-servers.ts'
import { libraryPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const long = { type: 'long' }
const ID = { ...long, autoFill: 'increment' }
const stored = { postgres: 'library', owned: true }
const MODEL = {
  name: 'library',
  dataClasses: {
    Copy: {
      storage: stored,
      key: 'ID',
      attributes: {
        ID: long,
        loans: { kind: 'relatedEntities', type: 'Loan', inverseName: 'copy' },
      },
    },
    Loan: {
      storage: stored,
      key: 'ID',
      attributes: {
        ID,
        reader: { type: 'string' },
        open: { type: 'bool' },
        copyID: { ...long, indexed: true },
        copy: { kind: 'relatedEntity', type: 'Copy', foreignKey: 'copyID', inverseName: 'loans' },
      },
    },
    Fee: { storage: stored, key: 'ID', attributes: { ID, reader: { type: 'string' }, amount: long } },
    Ticket: { storage: stored, key: 'ID', attributes: { ID, number: long, text: { type: 'string' } } },
    Broken: {
      storage: { postgres: 'library', table: 'broken', readOnly: true },
      key: 'ID',
      attributes: { ID: long },
    },
    Greeting: { key: 'ID', attributes: { ID, name: { type: 'string' } } },
  },
}
const CLIENTS = 8
const LENT = { errCode: 1, message: 'it is lent' }

const database = await startPostgres()
if (typeof database === 'string') t.comment(`skipped: ${database}`)
else {
  t.teardown(() => database.stop())
  await testRules(database)
}

async function testRules({ url, run }: SqlServer): Promise<void> {
  await run('CREATE VIEW broken AS SELECT 1 / (length(current_user) * 0) AS "ID"')
  const server = await startServer(
    t,
    { model: MODEL, rows: { Copy: Array.from({ length: 400 }, (_, i) => ({ ID: i + 1 })) } },
    {
      config: {
        plugins: [libraryPlugin],
        functions: { threads: 4, deadlineSeconds: 3 },
        connections: { library: { url, maxConnections: 10 } },
      },
    },
  )
  const count = async (query: string): Promise<number> => (await server.get(`/${query}`)).json.__COUNT
  const loansOf = (copy: number): Promise<number> => count(`Loan?$filter="copyID = ${copy}"`)
  const loan = (copyID: number, more: object = {}): object => ({ copyID, open: true, ...more })
  const lend = (body: unknown, options = '') => server.post(`/Loan?$method=update${options}`, body)
  /** Answer to a request that its client repeats while it loses to others, as clients should: 409 says so. */
  const settle = async (send: () => ReturnType<typeof lend>, tries = 5): ReturnType<typeof lend> => {
    const answer = await send()
    return answer.status === 409 && tries > 1 ? settle(send, tries - 1) : answer
  }
  const inserted = async (copyID: number, loans: number): Promise<void> => {
    await run(`INSERT INTO "Loan" ("copyID", open) SELECT ${copyID}, false FROM generate_series(1, ${loans})`)
  }
  let copy = 0
  /** Runs something for several clients at once, with a copy that has no loans. */
  const each = <T>(work: (copy: number, client: number) => Promise<T>): Promise<T[]> => {
    copy++
    return Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(copy, client)))
  }

  t.test('one of several clients borrows a copy', async t => {
    for (let round = 0; round < 5; round++) {
      const answers = await each(copy => lend(loan(copy)))
      t.equal(await loansOf(copy), 1)
      t.same(answers.map(({ status }) => status).sort(), [200, ...Array(CLIENTS - 1).fill(422)])
      for (const { status, json } of answers) if (status === 422) t.match(json.__ERROR[0], LENT)
    }
  })

  t.test('one of several functions borrows it', async t => {
    const results = await each(async copy => (await server.post('/$catalog/lend', [copy])).json.result)
    t.same(results.sort(), [...Array(CLIENTS - 1).fill(false), true])
    t.equal(await loansOf(copy), 1)
  })
  for (const options of ['', '&$atomic=true']) {
    t.test(`elements see those before them${options}`, async t => {
      const isAtomic = options !== ''
      copy++
      // The second time, it is known that the events read.
      for (const more of [copy, ++copy]) {
        const { status, json } = await lend([loan(more), loan(399 - more), loan(more), loan(more)], options)
        t.equal(status, 422)
        const failed = json.__ENTITIES.map(({ __ERROR }: { __ERROR?: unknown }) => __ERROR !== undefined)
        t.same(failed, [false, false, true, true])
        t.same(await Promise.all([loansOf(more), loansOf(399 - more)]), isAtomic ? [0, 0] : [1, 1])
      }
    })

    t.test(`arrays of several clients${options}`, async t => {
      await each(first => lend([loan(first), loan(first + 1), loan(first)], options))
      copy++
      t.equal(await loansOf(copy - 1), options ? 0 : 1)
      t.equal(await loansOf(copy), options ? 0 : 1)
    })
  }

  t.test('entities of one collection see those before them', async t => {
    copy++
    t.equal((await server.post('/$catalog/lendAll', [[copy, copy + 1, copy]])).json.result, 2)
    t.equal(await loansOf(copy++), 1)
  })

  t.test('a validation reads, too, and keeps nothing', async t => {
    copy++
    t.equal((await server.post('/Loan?$method=validate', loan(copy))).status, 200)
    t.equal(await loansOf(copy), 0)
    await lend(loan(copy))
    const refused = await server.post('/Loan?$method=validate', loan(copy))
    t.equal(refused.status, 422, refused.text)
    t.match(await server.post('/Loan?$method=update&$refresh=true', [loan(copy), loan(copy)]), { status: 422 })
    t.equal(await loansOf(copy), 1)
  })

  t.test('changes of existing entities are as new ones', async t => {
    await inserted(++copy, CLIENTS)
    const { json } = await server.get(`/Loan?$filter="copyID = ${copy}"`)
    await Promise.all(
      json.__ENTITIES.map(({ __KEY, __STAMP }: Record<string, unknown>) => lend({ __KEY, __STAMP, open: true })),
    )
    t.equal(await count(`Loan?$filter="copyID = ${copy} and open = true"`), 1)
  })

  t.test('numbers without gaps', async t => {
    const tickets = (texts: readonly string[]) => texts.map(text => ({ text }))
    const bodies = [{ text: 'one' }, tickets(['a', 'b', 'c']), tickets(['d', 'e'])]
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, i) =>
        settle(() => server.post(`/Ticket?$method=update${i % 2 ? '' : '&$atomic=true'}`, bodies[i % bodies.length])),
      ),
    )
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { json } = await server.get('/Ticket?$top=1000&$asArray=true')
    const numbers = json.map(({ number }: { number: number }) => number).sort((a: number, b: number) => a - b)
    t.same(
      numbers,
      numbers.map((_: number, i: number) => i + 1),
    )
  })

  t.test('entities that are left out of what has been read do not count', async t => {
    await run(`INSERT INTO "Fee" (reader, amount) VALUES ('Bob', 5)`)
    const [bob, eve] = await Promise.all(['Bob', 'Eve'].map(reader => lend(loan(++copy, { reader }))))
    t.match([bob!.status, bob!.json.__ERROR[0].message, eve!.status], [422, 'there are fees', 200])
  })

  t.test('one entity of those that several clients delete stays', async t => {
    await inserted(++copy, CLIENTS)
    const { json } = await server.get(`/Loan?$filter="copyID = ${copy}"`)
    const answers = await Promise.all(
      (json.__ENTITIES as { __KEY: string }[]).map(({ __KEY }) =>
        settle(() => server.post(`/Loan(${__KEY})?$method=delete`)),
      ),
    )
    t.same(answers.map(({ status }) => status).sort(), [...Array(CLIENTS - 1).fill(200), 422])
    t.equal(await loansOf(copy), 1)
  })

  t.test('and one of those that one client deletes', async t => {
    for (const [options, left] of [
      ['', 1],
      ['&$atomic=true', 3],
    ] as const) {
      await inserted(++copy, 3)
      const { status } = await server.post(`/Loan?$filter="copyID = ${copy}"&$method=delete${options}`)
      t.equal(status, 422)
      t.equal(await loansOf(copy), left)
    }
    await inserted(++copy, 3)
    t.equal((await server.post('/$catalog/returnAll', [copy])).json.result, 1)
    t.equal(await loansOf(copy), 1)
  })

  t.test('jobs are enqueued with what is kept, once', async t => {
    const greetings = () => count('Greeting')
    await each(copy => lend(loan(copy, { reader: 'Ada' })))
    await server.post('/Loan?$method=validate', loan(++copy, { reader: 'Ada' }))
    await lend([loan(copy, { reader: 'Ada' }), loan(copy, { reader: 'Ada' })], '&$atomic=true')
    await lend([loan(copy, { reader: 'Ada' }), loan(copy, { reader: 'Ada' })])
    t.ok(await until(async () => (await greetings()) === 2))
    t.ok(await until(async () => (await server.get('/$jobs?$filter="state != done"')).json.__COUNT !== 1))
    t.equal(await greetings(), 2)
  })

  t.test('code that collides runs again, five times at most', async t => {
    await run(`
      CREATE SEQUENCE attempts;
      CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('attempts') < (TG_ARGV[0])::int THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;
        RETURN coalesce(NEW, OLD);
      END $$`)
    const collisions = async (before: string, times: number): Promise<void> => {
      await run(`
        DROP TRIGGER IF EXISTS collides ON "Loan";
        ALTER SEQUENCE attempts RESTART;
        CREATE TRIGGER collides BEFORE ${before} ON "Loan" FOR EACH ROW EXECUTE FUNCTION collide(${times})`)
    }
    for (const [times, isSaved] of [
      [5, true],
      [6, false],
    ] as const) {
      copy++
      await collisions('INSERT', times)
      const body = loan(copy, { reader: 'Ada' })
      const one = await lend(body)
      t.equal(one.status, isSaved ? 200 : 409)
      if (!isSaved) {
        t.match(one.json.__ERROR, [{ errCode: 1121, message: / 5 times / }, { errCode: 1534 }])
        t.match(one.json.__STATUS, { success: false })
      }
      for (const options of ['', '&$atomic=true']) {
        copy++
        await collisions('INSERT', times)
        const { status, json } = await lend([loan(copy), loan(copy + 1)], options)
        t.equal(status, isSaved ? 200 : 409)
        const error = isSaved ? undefined : [{ errCode: 1121 }, {}]
        t.match(json.__ENTITIES, [{ __ERROR: error }, { __ERROR: error }])
        copy++
      }
      await collisions('INSERT', times)
      t.equal((await server.post('/$catalog/lend', [++copy])).json.result, isSaved)
      t.equal(await loansOf(copy), isSaved ? 1 : 0)
      await run('DROP TRIGGER collides ON "Loan"')
      await inserted(++copy, 2)
      const { json } = await server.get(`/Loan?$filter="copyID = ${copy}"`)
      await collisions('DELETE', times)
      const deletion = await server.post(`/Loan(${json.__ENTITIES[0].__KEY})?$method=delete`)
      t.equal(deletion.status, isSaved ? 200 : 409)
      if (!isSaved) t.match(deletion.json.__ERROR[0], { errCode: 1121 })
      await inserted(++copy, 3)
      await collisions('DELETE', 6)
      const several = await server.post(`/Loan?$filter="copyID = ${copy}"&$method=delete`)
      t.equal(several.status, 409)
      t.equal(await loansOf(copy), 3)
    }
    await run('DROP TRIGGER collides ON "Loan"')
  })

  t.test('rules of the table that are checked at the commit', async t => {
    await run(`
      CREATE TABLE reader (name text PRIMARY KEY);
      INSERT INTO reader VALUES ('Real');
      ALTER TABLE "Loan" ADD CONSTRAINT real FOREIGN KEY (reader) REFERENCES reader DEFERRABLE INITIALLY DEFERRED NOT VALID`)
    const [real, ghost] = ['Real', 'Ghost'].map(reader => (copy: number) => loan(copy, { reader }))
    copy += 2
    t.equal((await lend(ghost!(copy))).status, 409)
    t.match(await lend([ghost!(copy), real!(copy - 1)]), {
      status: 409,
      json: { __ENTITIES: [{ __ERROR: [{}, {}] }, {}] },
    })
    t.same([await loansOf(copy), await loansOf(copy - 1)], [0, 1])
    copy += 2
    t.match(await lend([ghost!(copy), real!(copy - 1)], '&$atomic=true'), { status: 409 })
    t.same([await loansOf(copy), await loansOf(copy - 1)], [0, 0])
    await run('ALTER TABLE "Loan" DROP CONSTRAINT real')
  })

  t.test('code may go on after a read that has failed', async t => {
    copy++
    t.equal((await lend(loan(copy, { reader: 'Broken' }))).status, 200)
    t.equal(await loansOf(copy), 1)
  })

  t.test('a thread that is ended leaves no transaction open', async t => {
    copy++
    t.equal((await lend(loan(copy, { reader: 'Loop' }))).status, 503)
    t.equal((await lend(loan(copy))).status, 200)
    const isClosed = (): Promise<boolean> =>
      run(`DO $$ BEGIN
        ASSERT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%');
      END $$`).then(
        () => true,
        () => false,
      )
    t.ok(await until(isClosed))
  })
}
