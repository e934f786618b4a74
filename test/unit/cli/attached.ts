/** Databases of PostgreSQL that `tesser attach` has described. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadModel } from '../../../engine/index.ts'
import { attachDatabase, type AttachArguments } from '../../../kernel/cli/attach-database/attach-database.ts'
import { type SqlServer, startPostgres } from '../../support/databases/sql-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of model files
type Json = any

interface Attached {
  readonly model: Json
  readonly config: Json
  readonly sql: string
  readonly text: string
  /** Folder of the files. */
  readonly to: string
}

/** Attaches all that a script makes in an empty database. */
export async function attach(
  t: Test,
  server: SqlServer,
  script: string,
  more: Partial<AttachArguments> = {},
): Promise<Attached> {
  await server.run(EMPTY)
  await server.run(script)
  return attachAsItIs(t, server.url, more)
}

export async function attachAsItIs(t: Test, source: string, more: Partial<AttachArguments> = {}): Promise<Attached> {
  const to = join(t.testdir({}), 'attached')
  const lines: string[] = []
  await attachDatabase({ source, to, connection: 'main', names: {}, keys: {}, ...more }, line => lines.push(line))
  const read = (name: string): string => readFileSync(join(to, name), 'utf8')
  const model = JSON.parse(read('model.json'))
  loadModel(model)
  const text = lines.join('\n').replaceAll(to, 'TO').replaceAll(source, 'ADDRESS')
  return { model, config: JSON.parse(read('tesser.config.json')), sql: read('prepare.sql'), text, to }
}

export const EMPTY = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
  END LOOP;
  CREATE SCHEMA public;
END $$`

export interface Case {
  readonly name: string
  readonly sql: string
  readonly options?: Partial<AttachArguments>
  /** Dataclasses, whole. */
  readonly classes?: Record<string, Json>
  /** Parts of the output. */
  readonly says?: readonly string[]
  readonly saysNot?: readonly RegExp[]
}

export const main = { postgres: 'main' }

/** Attaches the tables of each case. */
export async function attachEach(cases: readonly Case[]): Promise<void> {
  const server = await startPostgres()
  if (typeof server === 'string') return void t.comment(`skipped: ${server}`)
  t.teardown(() => server.stop())
  t.test('models', async t => {
    for (const { name, sql, options, classes, says = [], saysNot = [] } of cases) {
      await t.test(name, async t => {
        const { model, text } = await attach(t, server, sql, options)
        if (classes) t.strictSame(model.dataClasses, classes)
        for (const part of says) t.match(text, part)
        for (const pattern of saysNot) t.notMatch(text, pattern)
      })
    }
  })
}
