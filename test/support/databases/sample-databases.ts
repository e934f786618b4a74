import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import type { SqlServer } from './sql-servers.ts'

/** A database of a program that is not ours. `test/samples/install.mjs` fetches the program; nothing of it is part of the product. */
export interface SampleDatabase {
  readonly name: string
  readonly licence: string
  /** File of the program; the sample is left out where it is missing. */
  readonly file: string
  /** Makes tables with rows in an empty database. */
  load(run: (sql: string) => Promise<unknown>, url: string): Promise<void>
}

const SAMPLES = resolve('test/samples')
const ofDebian = (path: string): string => join(SAMPLES, 'packages', path)
const text = (path: string): string => {
  const content = readFileSync(path)
  return (path.endsWith('.gz') ? gunzipSync(content) : content).toString()
}

const ROUNDCUBE = ofDebian('roundcube-core/usr/share/roundcube/SQL/postgres.initial.sql')
const KEA = ofDebian('kea-admin/usr/share/kea/scripts/pgsql/dhcpdb_create.pgsql')
const ZABBIX = ofDebian('zabbix-server-pgsql/usr/share/zabbix-server-pgsql')
const PG_BOSS = join(SAMPLES, 'node_modules/pg-boss/package.json')

/** Tables of Zabbix to which no other one refers, with most of its rows. */
const ENDS = /^INSERT INTO (?:valuemap_mapping|item_tag|item_preproc|functions|trigger_tag) /
const MAX_ROWS_OF_ENDS = 500

export const SAMPLE_DATABASES: readonly SampleDatabase[] = [
  {
    name: 'roundcube',
    licence: 'Roundcube, GPL-3.0 or later; Debian package roundcube-core',
    file: ROUNDCUBE,
    async load(run) {
      await run(text(ROUNDCUBE))
      await run(`INSERT INTO users (username, mail_host) VALUES ('ada', 'localhost'), ('émile', 'localhost');
        INSERT INTO identities (user_id, name, email) VALUES (1, 'Ada', 'ada@example.org'), (1, 'Ada L.', 'lovelace@example.org'), (2, 'Émile', 'e@example.org');
        INSERT INTO contacts (user_id, name, email) SELECT 1 + i % 2, 'contact ' || i, i || '@example.org' FROM generate_series(1, 20) i;
        INSERT INTO contactgroups (user_id, name) VALUES (1, 'friends'), (1, 'family'), (2, 'friends');
        INSERT INTO contactgroupmembers (contactgroup_id, contact_id) SELECT g, c FROM generate_series(1, 3) g, generate_series(1, 20) c WHERE c % (g + 1) = 0`)
    },
  },
  {
    name: 'kea',
    licence: 'Kea, MPL-2.0; Debian package kea-admin',
    file: KEA,
    load: async run => void (await run(text(KEA))),
  },
  {
    name: 'zabbix',
    licence: 'Zabbix, GPL-2.0 or later; Debian package zabbix-server-pgsql',
    file: join(ZABBIX, 'schema.sql.gz'),
    async load(run) {
      await run(text(join(ZABBIX, 'schema.sql.gz')))
      await run(text(join(ZABBIX, 'images.sql.gz')))
      const counts = new Map<string, number>()
      const statements = text(join(ZABBIX, 'data.sql.gz')).split(/\n(?=INSERT INTO )/)
      const kept = statements.filter(statement => {
        const [table] = ENDS.exec(statement) ?? []
        if (table === undefined) return true
        counts.set(table, (counts.get(table) ?? 0) + 1)
        return counts.get(table)! <= MAX_ROWS_OF_ENDS
      })
      await run(kept.join('\n'))
    },
  },
  {
    name: 'pgboss',
    licence: 'pg-boss, MIT; npm package pg-boss',
    file: PG_BOSS,
    async load(_, url) {
      const path = createRequire(pathToFileURL(PG_BOSS)).resolve('pg-boss')
      const { default: PgBoss } = await import(pathToFileURL(path).href)
      const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
      await boss.start()
      for (const queue of ['dead', 'mail', 'report'])
        await boss.createQueue(queue, { policy: 'standard', ...(queue !== 'dead' && { deadLetter: 'dead' }) })
      for (let i = 0; i < 20; i++) await boss.send(i % 2 ? 'mail' : 'report', { number: i })
      await boss.schedule('report', '0 3 * * *')
      await boss.subscribe('sent', 'mail')
      await boss.stop({ graceful: false })
    },
  },
]

/**
 * Makes a database with a sample.
 * @returns its address; undefined if the program is not there
 */
export async function loadSample(server: SqlServer, sample: SampleDatabase): Promise<string | undefined> {
  if (!existsSync(sample.file)) return undefined
  await server.run(`CREATE DATABASE ${sample.name}`)
  const url = server.url.replace(/\/\w+\?/, `/${sample.name}?`)
  const client = new pg.Client(url.replace('@/', '@localhost/'))
  await client.connect()
  try {
    await sample.load(sql => client.query(sql), url)
  } finally {
    await client.end()
  }
  return url
}
