/** Databases of programs that are not ours, attached: every table, column and foreign key is mapped or named in the output. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { loadModel } from '../../../engine/index.ts'
import { attachDatabase } from '../../../kernel/cli/attach-database/attach-database.ts'
import { loadSample, SAMPLE_DATABASES } from '../../support/databases/sample-databases.ts'
import { startPostgres } from '../../support/databases/sql-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of model files
type Json = any

const COLUMNS = `SELECT n.nspname, c.relname, array_agg(a.attname::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' GROUP BY 1, 2`
const FOREIGN_KEYS = `SELECT DISTINCT n.nspname, c.relname, array_agg(a.attname::text) FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (f.conkey)
  WHERE f.contype = 'f' AND NOT c.relispartition GROUP BY f.oid, 1, 2`

/** Dataclasses and relations at least, since Debian has several versions, and lines of the output. */
const EXPECTED: Readonly<Record<string, { dataClasses: number; relations: number; says: readonly string[] }>> = {
  roundcube: {
    dataClasses: 15,
    relations: 12,
    says: [
      'each of cache, cache_index, cache_messages, cache_thread, contactgroupmembers has a key of several columns: the attribute ID combines them',
      'unique and never null: dictionary',
    ],
  },
  kea: {
    dataClasses: 54,
    relations: 60,
    says: [
      'dhcp4_options: the foreign key shared_network_name to dhcp4_shared_network is not a relation, because name is not the key of that table',
    ],
  },
  zabbix: {
    dataClasses: 170,
    relations: 200,
    says: ['interface_snmp.version could be the stamp of its table: --stamp version'],
  },
  pgboss: {
    dataClasses: 6,
    relations: 3,
    says: [
      'each of archive, job, subscription has a key of several columns: the attribute ID combines them',
      'each of archive.expire_in, job.expire_in can have intervals of months, which have no fixed length: a string',
      'each of queue.updated_on, schedule.updated_on, subscription.updated_on could be the timestamp of its table: --timestamp updated_on',
      'each of queue.updated_on, schedule.updated_on, subscription.updated_on could be the timestamp of its table: --timestamp updated_on',
    ],
  },
}

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  for (const sample of SAMPLE_DATABASES) {
    t.test(`${sample.name} (${sample.licence})`, async t => {
      const url = await loadSample(server, sample)
      if (url === undefined) {
        t.comment(`skipped: node test/samples/install.mjs has not fetched ${sample.name}`)
        return
      }
      const to = join(t.testdir({}), 'attached')
      const lines: string[] = []
      await attachDatabase({ source: url, to, connection: 'main', names: {}, keys: {} }, line => lines.push(line))
      const output = lines.join('\n')
      const model: Json = JSON.parse(readFileSync(join(to, 'model.json'), 'utf8'))
      const { dataClasses } = loadModel(model)
      const byTable = new Map(dataClasses.map(each => [`${each.remote!.schema}.${each.remote!.table}`, each]))
      const client = new pg.Client(url.replace('@/', '@localhost/'))
      await client.connect()
      const rows = async (sql: string): Promise<[string, string, string[]][]> =>
        (await client.query({ text: sql, rowMode: 'array' })).rows as never
      for (const [schema, table, columns] of await rows(COLUMNS)) {
        const dataClass = byTable.get(`${schema}.${table}`)
        if (!dataClass) t.match(output, table, `${table} is named`)
        else
          t.same(
            columns.filter(column => ![...dataClass.remote!.columns.values()].flat().includes(column)),
            [],
            table,
          )
      }
      let relations = 0
      for (const [schema, table, columns] of await rows(FOREIGN_KEYS)) {
        const dataClass = byTable.get(`${schema}.${table}`)
        if (!dataClass) continue
        const relation = dataClass.attributes.find(
          each =>
            each.kind === 'relatedEntity' && dataClass.remote!.columns.get(each.foreignKey)?.join() === columns.join(),
        )
        if (relation) relations++
        else t.match(output, `${table}: the foreign key`, `${table} ${columns.join()}`)
      }
      await client.end()
      const { dataClasses: least, relations: leastRelations, says } = EXPECTED[sample.name]!
      t.ok(dataClasses.length >= least, `${dataClasses.length} dataclasses`)
      t.ok(relations >= leastRelations, `${relations} relations`)
      for (const part of says) t.match(output, part)
    })
  }
}
