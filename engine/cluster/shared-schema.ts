import { MAKE_SCHEMA } from '../postgres/locks/lock-schema.ts'
import type { Statement } from '../postgres/sql/statement.ts'

/** Version of the tables below. A server refuses tables of a newer version. */
export const SHARED_VERSION = 1

const statement = (text: string, ...values: string[]): Statement => ({ text, values })

/** Number of the advisory lock that a server holds while it removes expired entries. */
export const SWEEP_LOCK = '128017076282739'

/** Version of the tables; returns no row if the tables do not exist. */
export const FIND_SETTINGS = statement(`SELECT to_regclass('tesser.setting') IS NOT NULL`)
export const FIND_VERSION = statement(`SELECT value FROM tesser.setting WHERE name = 'version'`)

/**
 * Statements that create the tables, in one transaction. Times are milliseconds since 1970 by the clocks of the servers, as for all
 * sessions and sets.
 */
export const MAKE_TABLES: readonly Statement[] = [
  ...MAKE_SCHEMA,
  statement(`CREATE TABLE IF NOT EXISTS tesser.setting (name text PRIMARY KEY, value text NOT NULL)`),
  statement(`
    CREATE TABLE IF NOT EXISTS tesser.session (
      handle text COLLATE "C" PRIMARY KEY,
      version bigint NOT NULL DEFAULT 1,
      record text NOT NULL,
      owner text NOT NULL,
      is_guest boolean NOT NULL,
      expires bigint NOT NULL,
      made_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`),
  statement(`CREATE INDEX IF NOT EXISTS session_owner ON tesser.session (owner, made_at DESC)`),
  statement(`CREATE INDEX IF NOT EXISTS session_guest ON tesser.session (made_at DESC) WHERE is_guest`),
  statement(`CREATE INDEX IF NOT EXISTS session_expires ON tesser.session (expires)`),
  statement(`
    CREATE TABLE IF NOT EXISTS tesser.session_secret (
      hash text COLLATE "C" PRIMARY KEY,
      kind text NOT NULL,
      session text COLLATE "C" NOT NULL REFERENCES tesser.session ON DELETE CASCADE,
      expires bigint NOT NULL,
      made_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`),
  statement(`CREATE INDEX IF NOT EXISTS session_secret_session ON tesser.session_secret (session, kind, made_at DESC)`),
  statement(`
    CREATE TABLE IF NOT EXISTS tesser.entity_set (
      id text COLLATE "C" PRIMARY KEY,
      version bigint NOT NULL DEFAULT 1,
      data_class text NOT NULL,
      has_ended boolean NOT NULL DEFAULT false,
      timeout_seconds bigint NOT NULL,
      expires bigint NOT NULL,
      saved text,
      creator text,
      network text,
      bytes bigint NOT NULL,
      size bigint NOT NULL,
      is_ordered boolean NOT NULL,
      members bytea NOT NULL,
      made_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`),
  // The members are already compressed.
  statement(`ALTER TABLE tesser.entity_set ALTER COLUMN members SET STORAGE EXTERNAL`),
  statement(`CREATE INDEX IF NOT EXISTS entity_set_expires ON tesser.entity_set (expires)`),
  statement(`CREATE INDEX IF NOT EXISTS entity_set_creator ON tesser.entity_set (creator) WHERE NOT has_ended`),
  statement(
    `CREATE INDEX IF NOT EXISTS entity_set_network ON tesser.entity_set (network, made_at) WHERE network IS NOT NULL`,
  ),
  statement(`INSERT INTO tesser.setting VALUES ('version', $1) ON CONFLICT (name) DO NOTHING`, String(SHARED_VERSION)),
]
